// Slices, pads, concatenations and reversals along cut dimensions: tiles fetch what they need from their
// neighbours.
#include <algorithm>

#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// How the result is to lie: as wanted, else as the largest operand lies.
Tiling goal_of(const RuleCall& call) {
  if (call.wanted[0]) {
    Tiling tiling = *call.wanted[0];
    tiling.partial = 0;
    return tiling;
  }
  const SpmdValue* largest = &call.operands[0];
  for (const SpmdValue& value : call.operands)
    if (value.shape->element_count() > largest->shape->element_count()) largest = &value;
  Tiling tiling = largest->tiling;
  tiling.partial = 0;
  return tiling;
}

/// The operand with the result's cuts; where it changes along a dimension and isn't cut there, it stays
/// whole.
SpmdValue cut_like(Rules& rules, const SpmdValue& value, const Tiling& goal, std::span<const bool> changes) {
  Tiling tiling = goal;
  for (int64_t i = 0; i < tiling.rank(); ++i)
    if (changes[static_cast<size_t>(i)] && value.tiling.cut(i).empty()) tiling.cut(i).clear();
  return rules.reshard.to(value, tiling);
}

/// Of each tile along `cut`, what `where` says of its number.
template <class F>
std::vector<int64_t> by_tile(const DeviceAxes& axes, const AxisList& cut, F&& where) {
  std::vector<int64_t> values;
  for (int64_t t = 0; t < axes.length(cut); ++t) values.push_back(where(t));
  return values;
}

std::unique_ptr<bool[]> changed_dimensions(const RuleCall& call) {
  const ShapeRef from = call.operands[0].shape, to = call.results[0];
  auto changes = std::make_unique<bool[]>(static_cast<size_t>(to->rank()));
  for (int64_t i = 0; i < to->rank(); ++i) changes[static_cast<size_t>(i)] = from->dim(i) != to->dim(i);
  return changes;
}

}  // namespace

std::optional<SpmdValues> slice_rule(Rules& rules, const RuleCall& call) {
  const Tiling goal = goal_of(call);
  const ShapeRef to = call.results[0];
  const auto slices = call.op.int_lists(AttrKey::kSlice);
  const auto changes = changed_dimensions(call);
  SpmdValue now = cut_like(rules, call.operands[0], goal, {changes.get(), static_cast<size_t>(to->rank())});
  for (int64_t i = 0; i < to->rank(); ++i) {
    if (!changes[static_cast<size_t>(i)]) continue;
    const auto slice = slices[static_cast<size_t>(i)];
    const int64_t step = slice[2], part = shard_size(rules.axes, goal.cut(i), to->dim(i));
    const int64_t reach = part > 0 ? (part - 1) * step + 1 : 0;
    const auto starts =
        by_tile(rules.axes, goal.cut(i), [&](int64_t t) { return slice[0] + t * part * step; });
    now.id = rules.reshard.window(now, i, goal.cut(i), starts, reach);
    if (step > 1) {
      const ShapeRef local = rules.emit.shape(now.id);
      std::vector<std::vector<int64_t>> bounds;
      for (int64_t d = 0; d < local->rank(); ++d) bounds.push_back({0, local->dim(d), d == i ? step : 1});
      now.id = rules.emit.add(call.op.instruction().opcode, rules.emit.resized(local, i, part), {now.id},
                              {rules.emit.lists(AttrKey::kSlice, AttrSyntax::kSlices, bounds)});
    }
    // From here on the dimension is the result's.
    now.shape = rules.emit.resized(now.shape, i, to->dim(i));
    now.tiling.cut(i) = goal.cut(i);
  }
  return SpmdValues{{now.id, goal, to}};
}

std::optional<SpmdValues> pad_rule(Rules& rules, const RuleCall& call) {
  const Tiling goal = goal_of(call);
  const ShapeRef to = call.results[0];
  const auto paddings = call.op.int_lists(AttrKey::kPadding);
  for (int64_t i = 0; i < to->rank(); ++i)
    if (paddings[static_cast<size_t>(i)][2] != 0 && !goal.cut(i).empty()) return std::nullopt;
  const auto changes = std::make_unique<bool[]>(static_cast<size_t>(to->rank()));
  for (int64_t i = 0; i < to->rank(); ++i) {
    const auto padding = paddings[static_cast<size_t>(i)];
    changes[static_cast<size_t>(i)] = padding[0] != 0 || padding[1] != 0 || padding[2] != 0;
  }
  SpmdValue now = cut_like(rules, call.operands[0], goal, {changes.get(), static_cast<size_t>(to->rank())});
  const InstructionId fill = rules.reshard.to(call.operands[1], whole(call, call.operands[1].shape)).id;
  for (int64_t i = 0; i < to->rank(); ++i) {
    const auto padding = paddings[static_cast<size_t>(i)];
    if (!changes[static_cast<size_t>(i)] || padding[2] != 0 || goal.cut(i).empty()) continue;
    const AxisList& cut = goal.cut(i);
    const int64_t part = shard_size(rules.axes, cut, to->dim(i)), size = now.shape->dim(i);
    const auto start = [&](int64_t t) { return t * part - padding[0]; };
    now.id = rules.reshard.window(now, i, cut, by_tile(rules.axes, cut, start), part);
    const InstructionId first = rules.emit.choose(cut, by_tile(rules.axes, cut, start));
    now.id = rules.reshard.masked(now.id, i, first, size, fill);
    now.shape = rules.emit.resized(now.shape, i, to->dim(i));
    now.tiling.cut(i) = cut;
  }
  // What is left is along dimensions that no device has parts of.
  std::vector<std::vector<int64_t>> rest;
  bool any = false;
  for (int64_t i = 0; i < to->rank(); ++i) {
    const auto padding = paddings[static_cast<size_t>(i)];
    const bool is_left = changes[static_cast<size_t>(i)] && goal.cut(i).empty();
    rest.push_back(is_left ? std::vector<int64_t>(padding.begin(), padding.end())
                           : std::vector<int64_t>{0, 0, 0});
    any = any || is_left;
  }
  if (any) {
    const ShapeRef local = shard_shape(rules.axes, goal, to, rules.emit.module().shapes());
    const InstructionId operands[] = {now.id, fill};
    const Attr attrs[] = {rules.emit.lists(AttrKey::kPadding, AttrSyntax::kPadding, rest)};
    now.id = rules.emit.like(call.op.instruction(), local, operands, attrs);
  }
  return SpmdValues{{now.id, goal, to}};
}

std::optional<SpmdValues> concatenate_rule(Rules& rules, const RuleCall& call) {
  const Tiling goal = goal_of(call);
  const ShapeRef to = call.results[0];
  const int64_t along = call.op.ints(AttrKey::kDimensions)[0];
  const AxisList& cut = goal.cut(along);
  if (cut.empty()) {
    std::vector<InstructionId> leaves;
    for (const SpmdValue& value : call.operands) leaves.push_back(rules.reshard.to(value, goal).id);
    return emit_local(rules, call, leaves, std::span(&goal, 1));
  }
  const auto changes = std::make_unique<bool[]>(static_cast<size_t>(to->rank()));
  changes[static_cast<size_t>(along)] = true;
  const int64_t part = shard_size(rules.axes, cut, to->dim(along));
  int64_t before = 0;
  InstructionId made;
  for (const SpmdValue& value : call.operands) {
    SpmdValue now = cut_like(rules, value, goal, {changes.get(), static_cast<size_t>(to->rank())});
    const int64_t size = value.shape->dim(along);
    const auto starts = by_tile(rules.axes, cut, [&](int64_t t) { return t * part - before; });
    const InstructionId mine = rules.reshard.window(now, along, cut, starts, part);
    if (made.valid()) {  // of what begins here
      const ShapeRef local = rules.emit.shape(mine);
      const InstructionId at = rules.emit.plus(rules.emit.iota(local, along),
                                               rules.emit.broadcast(rules.emit.choose(cut, starts), local));
      made = rules.emit.select(rules.emit.compare(at, rules.emit.number(0), "GE"), mine, made);
    } else {
      made = mine;
    }
    before += size;
  }
  return SpmdValues{{made, goal, to}};
}

std::optional<SpmdValues> reverse_rule(Rules& rules, const RuleCall& call) {
  const Tiling goal = goal_of(call);
  SpmdValue now = rules.reshard.to(call.operands[0], goal);
  const auto reversed = call.op.ints(AttrKey::kDimensions);
  for (const int64_t i : reversed) {
    const AxisList& cut = goal.cut(i);
    if (cut.empty()) continue;
    const int64_t size = now.shape->dim(i), part = shard_size(rules.axes, cut, size);
    const int64_t beyond = part * rules.axes.length(cut) - size;
    // Tiles that end with the array, so that their mirror images begin with it.
    const auto starts = by_tile(rules.axes, cut, [&](int64_t t) { return t * part - beyond; });
    if (beyond > 0) now.id = rules.reshard.window(now, i, cut, starts, part);
    now.id = rules.reshard.mirrored(now, now.id, i);
  }
  const InstructionId leaves[] = {now.id};
  return emit_local(rules, call, leaves, std::span(&goal, 1));
}

}  // namespace hlosim
