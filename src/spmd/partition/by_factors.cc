// Instructions that do to each part of their operands what they do to the whole.
#include <algorithm>

#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// Attributes that hold sizes of dimensions: those of the parts.
std::vector<Attr> resized_attributes(Rules& rules, const RuleCall& call,
                                     std::span<const InstructionId> leaves, ShapeRef result) {
  const OpContext& op = call.op;
  std::vector<Attr> changed;
  switch (op.def().rules.dimensions) {
    case DimensionRule::kSlice: {
      std::vector<std::vector<int64_t>> bounds;
      const ShapeRef whole = op.operand_shape(0), part = rules.emit.shape(leaves[0]);
      int64_t i = 0;
      for (const auto& bound : op.int_lists(AttrKey::kSlice)) {
        if (part->dim(i) == whole->dim(i))
          bounds.emplace_back(bound.begin(), bound.end());
        else
          bounds.push_back({0, part->dim(i), 1});
        ++i;
      }
      changed.push_back(rules.emit.lists(AttrKey::kSlice, AttrSyntax::kSlices, bounds));
      break;
    }
    case DimensionRule::kDynamicSlice:
      changed.push_back(rules.emit.ints(AttrKey::kDynamicSliceSizes, result->dimensions));
      break;
    default:
      break;
  }
  return changed;
}

}  // namespace

SpmdValues emit_local(Rules& rules, const RuleCall& call, std::span<const InstructionId> leaves,
                      std::span<const Tiling> results, std::span<const Attr> changed) {
  Emitter& emit = rules.emit;
  const Instruction& instruction = call.op.instruction();
  std::vector<ShapeRef> shapes;
  for (size_t i = 0; i < call.results.size(); ++i)
    shapes.push_back(shard_shape(rules.axes, results[i], call.results[i], emit.module().shapes()));
  // Operands that are tuples are put together again.
  std::vector<InstructionId> operands;
  size_t next = 0;
  const auto build = [&](auto&& self, ShapeRef shape) -> InstructionId {
    if (!shape->is_tuple()) return leaves[next++];
    std::vector<InstructionId> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(self(self, element));
    return emit.tuple(elements);
  };
  for (int64_t i = 0; i < call.op.operand_count(); ++i)
    operands.push_back(build(build, call.op.operand_shape(i)));
  size_t leaf = 0;
  const auto local = [&](auto&& self, ShapeRef shape) -> ShapeRef {
    if (!shape->is_tuple()) return shapes[leaf++];
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(self(self, element));
    return emit.module().shapes().tuple(elements);
  };
  const ShapeRef shape = local(local, instruction.shape);
  std::vector<Attr> attrs(changed.begin(), changed.end());
  if (attrs.empty()) attrs = resized_attributes(rules, call, leaves, shape);
  const InstructionId made = emit.like(instruction, shape, operands, attrs);
  SpmdValues values;
  const auto open = [&](auto&& self, InstructionId id) -> void {
    if (!emit.shape(id)->is_tuple()) {
      const size_t i = values.size();
      values.push_back({id, results[i], call.results[i]});
      return;
    }
    for (size_t i = 0; i < emit.shape(id)->elements.size(); ++i)
      self(self, emit.element(id, static_cast<int64_t>(i)));
  };
  open(open, made);
  return values;
}

std::optional<SpmdValues> by_factors(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  std::vector<FactorUse> uses = plain_uses(along);
  for (FactorUse& use : uses)
    if (use == FactorUse::kPartial) use = FactorUse::kWhole;
  const FactorAxes axes = choose_axes(rules, call, along, uses);
  std::vector<InstructionId> leaves;
  for (const SpmdValue& value : resharded(rules, call, axes)) leaves.push_back(value.id);
  return emit_local(rules, call, leaves, axes.results);
}

std::optional<SpmdValues> batch_norm_rule(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  std::vector<FactorUse> uses = plain_uses(along);
  const bool sums = call.results.size() > 1;
  const auto feature = static_cast<size_t>(call.op.integer(AttrKey::kFeatureIndex));
  const std::vector<int32_t>& features = along.arrays[0][feature];
  for (size_t f = 0; f < uses.size() && sums; ++f)
    if (std::find(features.begin(), features.end(), static_cast<int32_t>(f)) == features.end())
      uses[f] = FactorUse::kWhole;
  const FactorAxes axes = choose_axes(rules, call, along, uses);
  std::vector<InstructionId> leaves;
  for (const SpmdValue& value : resharded(rules, call, axes)) leaves.push_back(value.id);
  return emit_local(rules, call, leaves, axes.results);
}

// What is summed over, a padded part must not add to; both operands may hold anything there.
std::optional<SpmdValues> product_rule(Rules& rules, const RuleCall& call) {
  const Factors along = factors(call.op);
  const FactorAxes axes =
      choose_axes(rules, call, along, plain_uses(along), PartialKind::kSum, Prefer::kAgreed);
  std::vector<InstructionId> leaves;
  SpmdValues values = resharded(rules, call, axes);
  for (size_t leaf = 0; leaf < values.size(); ++leaf) {
    SpmdValue& value = values[leaf];
    for (int64_t i = 0; i < value.shape->rank(); ++i) {
      const std::vector<int32_t>& parts = along.arrays[leaf][static_cast<size_t>(i)];
      const bool summed = std::any_of(parts.begin(), parts.end(), [&](int32_t f) {
        return along.list[static_cast<size_t>(f)].kind == FactorKind::kSum;
      });
      if (summed && is_padded(rules.axes, value.tiling.cut(i), value.shape->dim(i)))
        value.id = rules.reshard.masked(value, i, rules.emit.number(0, value.shape->element_type));
    }
    leaves.push_back(value.id);
  }
  return emit_local(rules, call, leaves, axes.results);
}

/// Values that are handed on as they are.
std::optional<SpmdValues> forwarded_rule(Rules& rules, const RuleCall& call) {
  if (call.op.def().rules.value == ValueRule::kForwards && !call.op.has(AttrKey::kDomain)) {  // a barrier
    std::vector<InstructionId> leaves;
    std::vector<Tiling> tilings;
    for (const SpmdValue& value : call.operands) {
      leaves.push_back(value.id);
      tilings.push_back(value.tiling);
    }
    return emit_local(rules, call, leaves, tilings);
  }
  std::vector<int64_t> leaves;
  if (call.op.def().forward) call.op.def().forward(call.op, leaves);
  SpmdValues values;
  for (const int64_t leaf : leaves) {
    if (leaf < 0) return std::nullopt;
    values.push_back(call.operands[static_cast<size_t>(leaf)]);
  }
  const auto same = [](const SpmdValue& value, ShapeRef result) {
    return std::ranges::equal(value.shape->dimensions, result->dimensions);
  };
  if (!std::ranges::equal(values, call.results, same)) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) values[i].shape = call.results[i];
  return values;
}

SpmdValues replicated_rule(Rules& rules, const RuleCall& call) {
  std::vector<InstructionId> leaves;
  std::vector<Tiling> tilings;
  const bool by_layout = call.op.def().rules.dimensions == DimensionRule::kBitcast;
  for (const SpmdValue& value : call.operands) {
    const InstructionId id = rules.reshard.to(value, whole(call, value.shape)).id;
    leaves.push_back(by_layout ? rules.emit.laid_out(id, value.shape) : id);
  }
  for (const ShapeRef shape : call.results) tilings.push_back(whole(call, shape));
  return emit_local(rules, call, leaves, tilings);
}

}  // namespace hlosim
