// Slices read and written at computed places.
#include <algorithm>

#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// Places in their clamped form: from 0 on, so that all of the slice lies inside.
InstructionId clamped_start(Rules& rules, const RuleCall& call, size_t first, int64_t dimension, int64_t size,
                            int64_t part) {
  const SpmdValue& index = call.operands[first + static_cast<size_t>(dimension)];
  const InstructionId id = rules.reshard.to(index, whole(call, index.shape)).id;
  return rules.emit.clamp(0, rules.emit.convert(id, ElementType::kS32), size - part);
}

/// One index per dimension, not a list of all.
bool has_scalar_starts(const RuleCall& call, size_t first, int64_t rank) {
  return call.operands.size() == first + static_cast<size_t>(rank) &&
         std::all_of(call.operands.begin() + static_cast<std::ptrdiff_t>(first), call.operands.end(),
                     [](const SpmdValue& value) { return value.shape->is_scalar(); });
}

bool fits_s32(ShapeRef shape) {
  return std::all_of(shape->dimensions.begin(), shape->dimensions.end(),
                     [](int64_t size) { return size < (int64_t{1} << 30); });
}

}  // namespace

// Along a cut dimension of which a part is read, each device gives what it has of that part, zeros else, and
// the sum is the slice; or the dimension is gathered, whichever sends less.
std::optional<SpmdValues> dynamic_slice_rule(Rules& rules, const RuleCall& call) {
  const SpmdValue& from = call.operands[0];
  const ShapeRef to = call.results[0];
  if (!has_scalar_starts(call, 1, to->rank()) || !fits_s32(from.shape)) return std::nullopt;
  Tiling given = from.tiling, gathered = from.tiling, made;
  given.partial = gathered.partial = 0;
  given.partial_kind = gathered.partial_kind = PartialKind::kSum;
  if (call.wanted[0])
    for (int64_t i = 0; i < to->rank(); ++i)  // along what is read as a whole, as the result wants it
      if (to->dim(i) == from.shape->dim(i)) {
        AxisList cut;
        for (const int axis : call.wanted[0]->cut(i)) {
          Tiling others = given;
          others.cut(i).clear();
          if ((others.used() >> axis & 1) != 0) break;
          cut.push_back(axis);
        }
        given.cut(i) = gathered.cut(i) = cut;
      }
  AxisSet partial = 0;
  for (int64_t i = 0; i < to->rank(); ++i)
    if (to->dim(i) != from.shape->dim(i)) {
      partial |= set_of(given.cut(i));
      gathered.cut(i).clear();
    }
  made = gathered;
  const int64_t gather = rules.reshard.bytes(from, gathered);
  Tiling summed = made;
  summed.partial = partial;
  const int64_t sum =
      rules.reshard.bytes({InstructionId(), summed, to}, made) + rules.reshard.bytes(from, given);
  const bool sums = partial != 0 && sum < gather;
  SpmdValue now = rules.reshard.to(from, sums ? given : gathered);
  std::vector<InstructionId> leaves = {InstructionId()};
  for (int64_t i = 0; i < to->rank(); ++i) {
    const SpmdValue& index = call.operands[static_cast<size_t>(i) + 1];
    const AxisList& cut = now.tiling.cut(i);
    if (!sums || to->dim(i) == from.shape->dim(i) || cut.empty()) {
      leaves.push_back(rules.reshard.to(index, whole(call, index.shape)).id);
      continue;
    }
    const int64_t size = from.shape->dim(i), read = to->dim(i), part = shard_size(rules.axes, cut, size);
    const InstructionId zero = rules.emit.number(0, to->element_type);
    now.id = rules.emit.pad(rules.reshard.masked(now, i, zero), i, read, read, zero);
    const InstructionId start = clamped_start(rules, call, 1, i, size, read);
    const InstructionId offset = rules.emit.times(rules.emit.index(cut), -part);
    const InstructionId here = rules.emit.plus(rules.emit.plus(start, offset), read);
    leaves.push_back(rules.emit.convert(rules.emit.clamp(0, here, part + read), index.shape->element_type));
  }
  leaves[0] = now.id;
  return emit_local(rules, call, leaves, std::span(sums ? &summed : &made, 1));
}

// Each device writes what falls into its part: the part is given room on both sides for the rest.
std::optional<SpmdValues> dynamic_update_rule(Rules& rules, const RuleCall& call) {
  const SpmdValue &into = call.operands[0], &update = call.operands[1];
  const ShapeRef to = call.results[0];
  if (!has_scalar_starts(call, 2, to->rank()) || !fits_s32(to)) return std::nullopt;
  Tiling goal = call.wanted[0].value_or(into.tiling);
  goal.partial = 0;
  Tiling given = goal;
  for (int64_t i = 0; i < to->rank(); ++i)
    if (update.shape->dim(i) != to->dim(i)) given.cut(i).clear();
  SpmdValue now = rules.reshard.to(into, goal);
  std::vector<InstructionId> leaves = {now.id, rules.reshard.to(update, given).id};
  std::vector<std::pair<int64_t, int64_t>> widened;  // dimensions, by how much
  for (int64_t i = 0; i < to->rank(); ++i) {
    const SpmdValue& index = call.operands[static_cast<size_t>(i) + 2];
    const AxisList& cut = goal.cut(i);
    const int64_t size = to->dim(i), written = update.shape->dim(i);
    if (cut.empty() || written == size) {
      leaves.push_back(rules.reshard.to(index, whole(call, index.shape)).id);
      continue;
    }
    const int64_t part = shard_size(rules.axes, cut, size);
    widened.emplace_back(i, written);
    const InstructionId start = clamped_start(rules, call, 2, i, size, written);
    const InstructionId offset = rules.emit.times(rules.emit.index(cut), -part);
    const InstructionId here = rules.emit.plus(rules.emit.plus(start, offset), written);
    leaves.push_back(
        rules.emit.convert(rules.emit.clamp(0, here, part + written), index.shape->element_type));
  }
  for (const auto& [i, width] : widened) leaves[0] = rules.emit.pad(leaves[0], i, width, width);
  InstructionId made = rules.emit.like(call.op.instruction(), rules.emit.shape(leaves[0]), leaves);
  for (const auto& [i, width] : widened)
    made = rules.emit.slice(made, i, width, shard_size(rules.axes, goal.cut(i), to->dim(i)));
  return SpmdValues{{made, goal, to}};
}

}  // namespace hlosim
