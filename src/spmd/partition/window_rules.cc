// Windows that slide over cut dimensions: each tile fetches from its neighbours what its places see.
#include <algorithm>

#include "layout/packed_bytes.h"
#include "partition/rule_call.h"
#include "partition/window_reach.h"

namespace hlosim {

namespace {

/// Along dimension `i` place k sees elements 0 … k, or k … the last one.
enum class Cumulates : uint8_t { kNo, kForth, kBack };
Cumulates cumulates(const WindowDimension& w, int64_t base, int64_t places) {
  if (w.size != base || places != base || base < 2 || w.stride != 1 || w.base_dilation != 1 ||
      w.window_dilation != 1)
    return Cumulates::kNo;
  if (w.padding_low == base - 1 && w.padding_high == 0) return Cumulates::kForth;
  return w.padding_low == 0 && w.padding_high == base - 1 ? Cumulates::kBack : Cumulates::kNo;
}

/// The only dimension that the window slides over, if it cumulates along it and that is cut; -1: none.
int64_t cumulative_dimension(const RuleCall& call, const Tiling& goal) {
  int64_t found = -1;
  for (int64_t i = 0; i < goal.rank(); ++i) {
    const WindowDimension& window = call.op.window()[static_cast<size_t>(i)];
    const int64_t size = call.results[0]->dim(i);
    if (!slides(window, call.operands[0].shape->dim(i), size)) continue;
    const bool is_it = cumulates(window, call.operands[0].shape->dim(i), size) != Cumulates::kNo;
    if (found >= 0 || !is_it || goal.cut(i).empty()) return -1;
    found = i;
  }
  return found;
}

/// Each tile cumulates its own; then what the tiles before it come to is added to all of it.
SpmdValue cumulated(Rules& rules, const RuleCall& call, const Tiling& goal, int64_t dimension,
                    PartialKind kind) {
  Emitter& emit = rules.emit;
  const AxisList& cut = goal.cut(dimension);
  const int64_t tiles = rules.axes.length(cut);
  const ElementType type = call.results[0]->element_type;
  const InstructionId neutral = emit.neutral(kind, type);
  SpmdValue base = rules.reshard.to(call.operands[0], goal);
  base.id = rules.reshard.masked(base, dimension, neutral);
  const SpmdValue& start = call.operands[1];
  const InstructionId init = rules.reshard.to(start, whole(call, start.shape)).id;
  const int64_t part = emit.shape(base.id)->dim(dimension);
  std::vector<WindowDimension> window(call.op.window().begin(), call.op.window().end());
  WindowDimension& along = window[static_cast<size_t>(dimension)];
  const bool forth = along.padding_high == 0;
  along.size = part;
  (forth ? along.padding_low : along.padding_high) = part - 1;
  const Attr attrs[] = {emit.window(window)};
  const InstructionId operands[] = {base.id, init}, bare[] = {base.id, neutral};
  const Instruction& original = call.op.instruction();
  const InstructionId mine = emit.like(original, emit.shape(base.id), operands, attrs);
  const InstructionId sums = emit.like(original, emit.shape(base.id), bare, attrs);
  const InstructionId total = emit.slice(sums, dimension, forth ? part - 1 : 0, 1);
  const InstructionId all = emit.all_gather(total, cut, dimension);
  Tiling gathered = goal;
  gathered.cut(dimension).clear();
  rules.reshard.record(ReshardKind::kAllGather, all, base, gathered,
                       (tiles - 1) * packed_bytes(*emit.shape(total)));
  InstructionId others;
  for (int64_t t = forth ? 0 : 1; t < (forth ? tiles - 1 : tiles); ++t) {
    const InstructionId tile = emit.number(t);
    const InstructionId counts = emit.compare(emit.index(cut), tile, forth ? "GT" : "LT");
    const InstructionId one = emit.select(counts, emit.slice(all, dimension, t, 1), neutral);
    others = others.valid() ? emit.combine(kind, others, one) : one;
  }
  return {emit.combine(kind, mine, emit.stretched(others, dimension, part)), goal, call.results[0]};
}

}  // namespace

std::optional<SpmdValues> reduce_window_rule(Rules& rules, const RuleCall& call) {
  const size_t inputs = call.operands.size() / 2;
  Tiling goal = call.wanted[0].value_or(call.operands[0].tiling);
  goal.partial = 0;
  const std::optional<PartialKind> known = partial_kind_of(call.op, call.op.called());
  const bool has_kind = inputs == 1 && known.has_value();
  const PartialKind kind = known.value_or(PartialKind::kSum);
  if (const int64_t along = cumulative_dimension(call, goal); has_kind && along >= 0)
    return SpmdValues{cumulated(rules, call, goal, along, kind)};
  std::vector<WindowDimension> window(call.op.window().begin(), call.op.window().end());
  const std::vector<WindowDimension> original = window;
  const ShapeRef to = call.results[0];
  // What lies beyond the array must add nothing.
  const bool may_fill = has_kind || (inputs > 1 && starts_are_neutral(call));
  for (int64_t i = 0; i < to->rank(); ++i) {
    const WindowDimension& along = window[static_cast<size_t>(i)];
    if (!goal.cut(i).empty() && slides(along, call.operands[0].shape->dim(i), to->dim(i)) &&
        (!may_fill || !reach_of(rules.axes, goal.cut(i), along, to->dim(i))))
      goal.cut(i).clear();
  }
  std::vector<InstructionId> leaves;
  for (size_t leaf = 0; leaf < 2 * inputs; ++leaf) {
    const SpmdValue& given = call.operands[leaf];
    if (leaf >= inputs) {
      leaves.push_back(rules.reshard.to(given, whole(call, given.shape)).id);
      continue;
    }
    Tiling tiling = goal;
    for (int64_t i = 0; i < to->rank(); ++i)
      if (given.tiling.cut(i).empty() &&
          slides(original[static_cast<size_t>(i)], given.shape->dim(i), to->dim(i)))
        tiling.cut(i).clear();
    SpmdValue base = rules.reshard.to(given, tiling);
    const SpmdValue& start = call.operands[leaf + inputs];
    const InstructionId fill = has_kind ? rules.emit.neutral(kind, given.shape->element_type)
                                        : rules.reshard.to(start, whole(call, start.shape)).id;
    for (int64_t i = 0; i < to->rank(); ++i) {
      const auto at = static_cast<size_t>(i);
      if (goal.cut(i).empty() || !slides(original[at], given.shape->dim(i), to->dim(i))) continue;
      window[at] = original[at];
      if (!fetch(rules, base, i, goal.cut(i), to->dim(i), window[at], fill)) return std::nullopt;
    }
    leaves.push_back(base.id);
  }
  const Attr attrs[] = {rules.emit.window(window)};
  const std::vector<Tiling> tilings(call.results.size(), goal);
  return emit_local(rules, call, leaves, tilings, attrs);
}

}  // namespace hlosim
