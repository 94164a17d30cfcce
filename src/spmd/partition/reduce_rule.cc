// Reductions along cut dimensions: each device its part, then all together.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hlo/literal.h"
#include "hlo/number.h"
#include "layout/packed_bytes.h"
#include "partition/rule_call.h"

namespace hlosim {

/// What a computation of two scalars does, if it is one operation on them that has a neutral element.
std::optional<PartialKind> partial_kind_of(const OpContext& op, ComputationId reducer) {
  const Module& module = op.module();
  const Instruction& root = module.root(reducer);
  const OpDef& def = op.table()[root.opcode];
  if (module[reducer].parameters.size() != 2 || root.operands.size() != 2 || !def.element)
    return std::nullopt;
  const auto is_parameter = [&](InstructionId id) { return module[id].parameter_number >= 0; };
  if (!std::all_of(root.operands.begin(), root.operands.end(), is_parameter) ||
      root.operands[0] == root.operands[1])
    return std::nullopt;
  const std::optional<ElementOp> element = def.element(op.of(root));
  if (!element) return std::nullopt;
  constexpr std::pair<ElementOp, PartialKind> kKinds[] = {
      {ElementOp::kAdd, PartialKind::kSum},     {ElementOp::kMaximum, PartialKind::kMax},
      {ElementOp::kMinimum, PartialKind::kMin}, {ElementOp::kMultiply, PartialKind::kProduct},
      {ElementOp::kAnd, PartialKind::kAnd},     {ElementOp::kOr, PartialKind::kOr}};
  for (const auto& [operation, kind] : kKinds)
    if (*element == operation) return kind;
  return std::nullopt;
}

namespace {

/// Along dimensions that are summed over, what lies beyond the array becomes `fill`.
void mask_summed(Rules& rules, const Factors& along, size_t leaf, SpmdValue& value, InstructionId fill) {
  for (int64_t i = 0; i < value.shape->rank(); ++i)
    for (const int32_t f : along.arrays[leaf][static_cast<size_t>(i)])
      if (along.list[static_cast<size_t>(f)].kind == FactorKind::kSum)
        value.id = rules.reshard.masked(value, i, fill);
}

/// Each device starts from the same values; what they make is gathered and reduced once more.
SpmdValues reduced_twice(Rules& rules, const RuleCall& call, const FactorAxes& axes,
                         std::span<const InstructionId> leaves) {
  Emitter& emit = rules.emit;
  const AxisList along = list_of(axes.results[0].partial);
  std::vector<Tiling> tilings = axes.results;
  for (Tiling& tiling : tilings) tiling.partial = 0;
  SpmdValues parts = emit_local(rules, call, leaves, tilings);
  if (along.empty()) return parts;
  std::vector<InstructionId> again;
  for (const SpmdValue& part : parts) {
    std::vector<int64_t> sizes(emit.shape(part.id)->dimensions.begin(),
                               emit.shape(part.id)->dimensions.end());
    sizes.insert(sizes.begin(), 1);
    const InstructionId all = emit.all_gather(emit.reshape(part.id, sizes), along, 0);
    const int64_t bytes = packed_bytes(*emit.shape(part.id));
    rules.reshard.record(ReshardKind::kAllGather, all, part, part.tiling,
                         (rules.axes.length(along) - 1) * bytes);
    again.push_back(all);
  }
  again.insert(again.end(), leaves.begin() + static_cast<std::ptrdiff_t>(parts.size()), leaves.end());
  const int64_t first[] = {0};
  const Attr attrs[] = {emit.ints(AttrKey::kDimensions, first)};
  return emit_local(rules, call, again, tilings, attrs);
}

}  // namespace

namespace {

/// Infinities, and the least and greatest number of a type or nearly so: nothing is beyond them.
bool is_extreme(const Literal& literal) {
  const ElementType type = literal.shape->element_type;
  if (literal.elided || literal.data.empty() || is_complex(type)) return false;
  if (is_float(type)) {
    uint64_t bits = 0;
    std::memcpy(&bits, literal.data.data(), static_cast<size_t>(byte_width(type)));
    const double value = std::abs(decode_float(type, bits));
    return value >= 1e38 || (type == ElementType::kF16 && value >= 65504);
  }
  const int64_t value = integer_at(literal, 0), bits = bit_width(type);
  if (is_pred(type) || is_unsigned_integer(type))
    return value == 0 || value == (is_pred(type) ? 1 : static_cast<int64_t>(~uint64_t{0} >> (64 - bits)));
  const int64_t most = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return value == most || value == -most - 1;
}

}  // namespace

bool starts_are_neutral(const RuleCall& call) {
  const int64_t first = call.op.operand_count() / 2;
  for (int64_t i = first; i < call.op.operand_count(); ++i)
    if (!call.op.operand(i).literal) return false;
  return is_extreme(*call.op.operand(first).literal);
}

std::optional<SpmdValues> reduce_rule(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  const size_t inputs = call.operands.size() / 2;
  const auto known = partial_kind_of(call.op, call.op.called());
  const bool combines = inputs == 1 && known.has_value();
  const PartialKind kind = known.value_or(PartialKind::kSum);
  std::vector<FactorUse> uses = plain_uses(along);
  if (!combines && (inputs == 1 || !starts_are_neutral(call)))
    for (FactorUse& use : uses)
      if (use == FactorUse::kPartial) use = FactorUse::kWhole;
  const FactorAxes axes = choose_axes(rules, call, along, uses, kind);
  SpmdValues values = resharded(rules, call, axes);
  std::vector<InstructionId> leaves;
  for (size_t leaf = 0; leaf < values.size(); ++leaf) {
    if (leaf < inputs) {
      const ElementType type = values[leaf].shape->element_type;
      const InstructionId fill = combines ? rules.emit.neutral(kind, type) : values[leaf + inputs].id;
      mask_summed(rules, along, leaf, values[leaf], fill);
    }
    leaves.push_back(values[leaf].id);
  }
  if (!combines) return reduced_twice(rules, call, axes, leaves);
  if (const AxisSet partial = axes.results[0].partial; partial != 0) {  // the initial value counts once
    const InstructionId zero = rules.emit.number(0);
    const InstructionId first = rules.emit.compare(rules.emit.index(list_of(partial)), zero, "EQ");
    leaves[1] = rules.emit.select(first, leaves[1], rules.emit.neutral(kind, values[1].shape->element_type));
  }
  return emit_local(rules, call, leaves, axes.results);
}

}  // namespace hlosim
