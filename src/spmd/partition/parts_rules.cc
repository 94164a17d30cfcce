// Partitions slice, pad, concatenate and reverse along sharded dimensions: each shard fetches the elements
// that it needs from its neighbours.
#include <algorithm>
#include <array>

#include "base/rounding.h"
#include "hlo/shifted_slices.h"
#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// The tiling of the result: the requested one, else that of the largest operand.
Tiling goal_of(const RuleCall& call) {
  if (call.wanted[0]) {
    Tiling tiling = *call.wanted[0];
    tiling.partial = 0;
    return tiling;
  }
  const SpmdValue* largest = &call.operands[0];
  for (const SpmdValue& value : call.operands)
    if (value.shape->rank() == largest->shape->rank() &&
        value.shape->element_count() > largest->shape->element_count())
      largest = &value;
  Tiling tiling = largest->tiling;
  tiling.partial = 0;
  return tiling;
}

/// The operand resharded like the result. A dimension that changes and that the operand does not shard stays
/// unsharded.
SpmdValue cut_like(Rules& rules, const SpmdValue& value, const Tiling& goal, std::span<const bool> changes) {
  Tiling tiling = goal;
  for (int64_t i = 0; i < tiling.rank(); ++i)
    if (changes[static_cast<size_t>(i)] && value.tiling.cut(i).empty()) tiling.cut(i).clear();
  return rules.reshard.to(value, tiling);
}

/// where(t) for each tile number t along the axes `cut`.
template <class F>
std::vector<int64_t> by_tile(const DeviceAxes& axes, const AxisList& cut, F&& where) {
  std::vector<int64_t> values;
  for (int64_t t = 0; t < axes.length(cut); ++t) values.push_back(where(t));
  return values;
}

}  // namespace

namespace {

/// Slices the value by start, limit and stride of each dimension. The result has shape `to`, tiling `goal`.
SpmdValue sliced(Rules& rules, const SpmdValue& value, ShapeRef to, const Tiling& goal,
                 std::span<const std::array<int64_t, 3>> slices) {
  const auto changes = std::make_unique<bool[]>(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) changes[i] = value.shape->dimensions[i] != to->dimensions[i];
  SpmdValue now = cut_like(rules, value, goal, {changes.get(), slices.size()});
  for (int64_t i = 0; i < to->rank(); ++i) {
    if (!changes[static_cast<size_t>(i)]) continue;
    const auto [start, limit, step] = slices[static_cast<size_t>(i)];
    const int64_t part = shard_size(rules.axes, goal.cut(i), to->dim(i));
    const int64_t reach = part > 0 ? (part - 1) * step + 1 : 0, first = start, apart = part * step;
    const auto starts = by_tile(rules.axes, goal.cut(i), [&](int64_t t) { return first + t * apart; });
    now.id = rules.emit.slice(rules.reshard.window(now, i, goal.cut(i), starts, reach), i, 0, part, step);
    // This dimension now has the size and the sharding of the result.
    now.shape = rules.emit.resized(now.shape, i, to->dim(i));
    now.tiling.cut(i) = goal.cut(i);
  }
  return {now.id, goal, to};
}

/// Rotates: the last `by` elements along `dimension` come first.
SpmdValue rotated(Rules& rules, const SpmdValue& value, const Tiling& goal, int64_t dimension, int64_t by) {
  const auto changes = std::make_unique<bool[]>(static_cast<size_t>(goal.rank()));
  changes[static_cast<size_t>(dimension)] = true;
  const SpmdValue now = cut_like(rules, value, goal, {changes.get(), static_cast<size_t>(goal.rank())});
  const AxisList& cut = goal.cut(dimension);
  const int64_t size = value.shape->dim(dimension), part = shard_size(rules.axes, cut, size);
  const auto from = [&](int64_t shift) {
    const auto starts = by_tile(rules.axes, cut, [&](int64_t t) { return t * part + shift; });
    return rules.reshard.window(now, dimension, cut, starts, part);
  };
  const InstructionId front = from(size - by), rest = from(-by);
  const ShapeRef local = rules.emit.shape(rest);
  const auto places = by_tile(rules.axes, cut, [&](int64_t t) { return t * part - by; });
  const InstructionId begin = rules.emit.broadcast(rules.emit.choose(cut, places), local);
  const InstructionId at = rules.emit.plus(rules.emit.iota(local, dimension), begin);
  const InstructionId is_rest = rules.emit.compare(at, rules.emit.number(0), "GE");
  return {rules.emit.select(is_rest, rest, front), goal, value.shape};
}

}  // namespace

std::optional<SpmdValues> slice_rule(Rules& rules, const RuleCall& call) {
  std::vector<std::array<int64_t, 3>> slices;
  for (const auto& slice : call.op.int_lists(AttrKey::kSlice))
    slices.push_back({slice[0], slice[1], slice[2]});
  return SpmdValues{sliced(rules, call.operands[0], call.results[0], goal_of(call), slices)};
}

std::optional<SpmdValues> shifted_slices_rule(Rules& rules, const RuleCall& call) {
  const std::optional<ShiftedSlices> shifts = shifted_slices(call.op);
  if (!shifts) return std::nullopt;
  if (shifts->rotates_by > 0)
    return SpmdValues{rotated(rules, call.operands[0], goal_of(call), shifts->dimension, shifts->rotates_by)};
  SpmdValues values;
  for (size_t i = 0; i < call.results.size(); ++i) {
    Tiling goal = call.wanted[i].value_or(call.operands[0].tiling);
    goal.partial = 0;
    if (shifts->slices.empty())
      values.push_back(rules.reshard.to(call.operands[0], goal));  // rotated by nothing
    else
      values.push_back(sliced(rules, call.operands[0], call.results[i], goal, shifts->slices[i]));
  }
  return values;
}

namespace {

/// The pad of one sharded dimension: each tile's elements of the operand, spread by the interior padding, and
/// `fill` elsewhere.
InstructionId padded(Rules& rules, const SpmdValue& now, int64_t dimension, const AxisList& cut, int64_t size,
                     std::span<const int64_t> padding, InstructionId fill) {
  const int64_t low = padding[0], apart = padding[2] + 1, part = shard_size(rules.axes, cut, size);
  // The index of the first operand element at or after the beginning of tile t.
  const auto first = [&](int64_t t) { return ceil_div(t * part - low, apart); };
  const auto starts = by_tile(rules.axes, cut, first);
  const int64_t count = ceil_div(part, apart);
  InstructionId x = rules.reshard.window(now, dimension, cut, starts, count);
  x = rules.reshard.masked(x, dimension, rules.emit.choose(cut, starts), now.shape->dim(dimension), fill);
  if (apart == 1) return x;
  std::vector<std::vector<int64_t>> spread(static_cast<size_t>(now.shape->rank()), {0, 0, 0});
  spread[static_cast<size_t>(dimension)] = {apart - 1, apart - 1, apart - 1};
  x = rules.emit.pad(x, spread, fill);
  const auto begins =
      by_tile(rules.axes, cut, [&](int64_t t) { return apart - 1 - (low + first(t) * apart - t * part); });
  return rules.emit.dynamic_slice(x, dimension, rules.emit.choose(cut, begins), part);
}

}  // namespace

std::optional<SpmdValues> pad_rule(Rules& rules, const RuleCall& call) {
  const Tiling goal = goal_of(call);
  const ShapeRef to = call.results[0];
  const auto paddings = call.op.int_lists(AttrKey::kPadding);
  const auto changes = std::make_unique<bool[]>(static_cast<size_t>(to->rank()));
  for (int64_t i = 0; i < to->rank(); ++i) {
    const auto padding = paddings[static_cast<size_t>(i)];
    changes[static_cast<size_t>(i)] = padding[0] != 0 || padding[1] != 0 || padding[2] != 0;
  }
  SpmdValue now = cut_like(rules, call.operands[0], goal, {changes.get(), static_cast<size_t>(to->rank())});
  const InstructionId fill = rules.reshard.to(call.operands[1], whole(call, call.operands[1].shape)).id;
  for (int64_t i = 0; i < to->rank(); ++i) {
    const AxisList& cut = goal.cut(i);
    if (!changes[static_cast<size_t>(i)] || cut.empty()) continue;
    now.id = padded(rules, now, i, cut, to->dim(i), paddings[static_cast<size_t>(i)], fill);
    now.shape = rules.emit.resized(now.shape, i, to->dim(i));
    now.tiling.cut(i) = cut;
  }
  // Unsharded dimensions are padded last, by one local pad.
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
    if (made.valid()) {  // elements from here on are this operand's
      const ShapeRef local = rules.emit.shape(mine);
      const InstructionId begin = rules.emit.broadcast(rules.emit.choose(cut, starts), local);
      const InstructionId at = rules.emit.plus(rules.emit.iota(local, along), begin);
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
