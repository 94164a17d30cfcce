// Select-and-scatter along cut dimensions: each tile does all windows that touch it and keeps what falls into
// it.
#include <algorithm>

#include "base/rounding.h"
#include "partition/rule_call.h"
#include "partition/window_reach.h"

namespace hlosim {
namespace {

/// Along one cut dimension.
struct Touching {
  std::vector<int64_t> sources, bases;  // by tile: the first window that touches it, and where that begins
  int64_t windows = 0, size = 0;        // how many, and what they cover
  int64_t offset = 0;                   // of the tile in that
};

/// Nullopt: tiles lie differently to the windows.
std::optional<Touching> touching(const DeviceAxes& axes, const AxisList& cut, const WindowDimension& w,
                                 int64_t size) {
  const int64_t part = shard_size(axes, cut, size);
  if (part < 1 || part % w.stride != 0 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
  const auto floor_div = [](int64_t a, int64_t b) { return -ceil_div(-a, b); };
  // Of tile 0: from the first window that reaches into it or begins no later than it, to the last that begins
  // in it or reaches to its end.
  const int64_t first =
      std::min(ceil_div(w.padding_low - w.size + 1, w.stride), floor_div(w.padding_low, w.stride));
  const int64_t last = std::max(floor_div(part - 1 + w.padding_low, w.stride),
                                ceil_div(part + w.padding_low - w.size, w.stride));
  Touching made;
  made.windows = last - first + 1;
  made.size = (made.windows - 1) * w.stride + w.size;
  made.offset = w.padding_low - first * w.stride;
  for (int64_t t = 0; t < axes.length(cut); ++t) {
    made.sources.push_back(first + t * (part / w.stride));
    made.bases.push_back(made.sources.back() * w.stride - w.padding_low);
  }
  return made;
}

/// What never is selected where there is something else.
std::optional<PartialKind> unselected(const OpContext& op) {
  const Instruction& root = op.module().root(op.called(AttrKey::kSelect));
  if (!root.find(AttrKey::kDirection) || root.operands.size() != 2) return std::nullopt;
  const auto number = [&](size_t i) { return op.module()[root.operands[i]].parameter_number; };
  if (number(0) < 0 || number(1) < 0 || number(0) == number(1)) return std::nullopt;
  const std::string_view direction = root.find(AttrKey::kDirection)->text();
  const bool greater = direction == "GE" || direction == "GT", less = direction == "LE" || direction == "LT";
  if (!greater && !less) return std::nullopt;
  return greater == (number(0) == 0) ? PartialKind::kMax : PartialKind::kMin;
}

}  // namespace

std::optional<SpmdValues> select_and_scatter_rule(Rules& rules, const RuleCall& call) {
  const auto kind = partial_kind_of(call.op, call.op.called(AttrKey::kScatter));
  const auto never = unselected(call.op);
  const SpmdValue &operand = call.operands[0], &source = call.operands[1], &start = call.operands[2];
  Tiling goal = call.wanted[0].value_or(operand.tiling);
  goal.partial = 0;
  const auto sliding = [&](int64_t i) {
    return slides(call.op.window()[static_cast<size_t>(i)], operand.shape->dim(i), source.shape->dim(i));
  };
  const auto touches = [&](int64_t i) {
    return touching(rules.axes, goal.cut(i), call.op.window()[static_cast<size_t>(i)], operand.shape->dim(i));
  };
  for (int64_t i = 0; i < goal.rank(); ++i)
    if (!goal.cut(i).empty() && sliding(i) && (!kind || !never || !touches(i))) goal.cut(i).clear();
  const auto ready = [&](const SpmdValue& value) {  // what isn't cut where windows slide stays whole
    Tiling tiling = goal;
    for (int64_t i = 0; i < goal.rank(); ++i)
      if (sliding(i) && value.tiling.cut(i).empty()) tiling.cut(i).clear();
    return rules.reshard.to(value, tiling);
  };
  SpmdValue base = ready(operand), given = ready(source);
  Emitter& emit = rules.emit;
  std::vector<WindowDimension> window(call.op.window().begin(), call.op.window().end());
  std::vector<std::pair<int64_t, int64_t>> kept;  // dimension, where the tile begins
  for (int64_t i = 0; i < goal.rank(); ++i) {
    if (goal.cut(i).empty() || !sliding(i)) continue;
    const Touching tile = *touches(i);
    const AxisList& cut = goal.cut(i);
    base.id = rules.reshard.window(base, i, cut, tile.bases, tile.size);
    const InstructionId beyond = emit.neutral(*never, operand.shape->element_type);
    base.id = rules.reshard.masked(base.id, i, emit.choose(cut, tile.bases), operand.shape->dim(i), beyond);
    given.id = rules.reshard.window(given, i, cut, tile.sources, tile.windows);
    const InstructionId nothing = emit.neutral(*kind, source.shape->element_type);
    given.id =
        rules.reshard.masked(given.id, i, emit.choose(cut, tile.sources), source.shape->dim(i), nothing);
    window[static_cast<size_t>(i)].padding_low = window[static_cast<size_t>(i)].padding_high = 0;
    kept.emplace_back(i, tile.offset);
  }
  const InstructionId operands[] = {base.id, given.id, rules.reshard.to(start, whole(call, start.shape)).id};
  const Attr attrs[] = {emit.window(window)};
  InstructionId made = emit.like(call.op.instruction(), emit.shape(base.id), operands, attrs);
  for (const auto& [i, begin] : kept)
    made = emit.slice(made, i, begin, shard_size(rules.axes, goal.cut(i), operand.shape->dim(i)));
  return SpmdValues{{made, goal, call.results[0]}};
}

}  // namespace hlosim
