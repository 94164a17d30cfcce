// Windows that slide over cut dimensions: each tile fetches from its neighbours what its places see.
#include <algorithm>

#include "base/rounding.h"
#include "dimensions/window_form.h"
#include "partition/rule_call.h"

namespace hlosim {
namespace {

/// One dimension that a window slides over: what each tile of the places sees of the base.
struct Reach {
  std::vector<int64_t> starts;  // by tile, in elements of the base
  int64_t size = 0;
  WindowDimension window;  // over these
};

/// Nullopt: tiles see the base in different ways.
std::optional<Reach> reach_of(const DeviceAxes& axes, const AxisList& cut, const WindowDimension& window,
                              int64_t places) {
  const int64_t part = shard_size(axes, cut, places), tiles = axes.length(cut), d = window.base_dilation;
  const int64_t step = part * window.stride;
  if (part < 1 || step % d != 0) return std::nullopt;
  const int64_t span = (part - 1) * window.stride + (window.size - 1) * window.window_dilation + 1;
  Reach reach;
  reach.window = window;
  const int64_t first = -window.padding_low;  // in dilated elements
  const int64_t element = first >= 0 ? ceil_div(first, d) : -(-first / d);
  const int64_t last = first + span - 1, last_element = last >= 0 ? last / d : -ceil_div(-last, d);
  reach.size = last_element - element + 1;
  if (reach.size < 1) return std::nullopt;
  reach.window.padding_low = element * d - first;
  reach.window.padding_high = last - last_element * d;
  for (int64_t t = 0; t < tiles; ++t) reach.starts.push_back(element + t * (step / d));
  return reach;
}

/// Fetches and masks one dimension of the base.
bool fetch(Rules& rules, SpmdValue& base, int64_t dimension, const AxisList& cut, int64_t places,
           WindowDimension& window, InstructionId fill) {
  const auto reach = reach_of(rules.axes, cut, window, places);
  if (!reach) return false;
  const int64_t size = base.shape->dim(dimension);
  base.id = rules.reshard.window(base, dimension, cut, reach->starts, reach->size);
  base.id = rules.reshard.masked(base.id, dimension, rules.emit.choose(cut, reach->starts), size, fill);
  window = reach->window;
  return true;
}

bool slides(const WindowDimension& window, int64_t base, int64_t places) {
  return window_form(base, window, places) != WindowForm::kNothing;
}

}  // namespace

std::optional<SpmdValues> reduce_window_rule(Rules& rules, const RuleCall& call) {
  const size_t inputs = call.operands.size() / 2;
  Tiling goal = call.wanted[0].value_or(call.operands[0].tiling);
  goal.partial = 0;
  std::vector<WindowDimension> window(call.op.window().begin(), call.op.window().end());
  const std::vector<WindowDimension> original = window;
  const ShapeRef to = call.results[0];
  for (int64_t i = 0; i < to->rank(); ++i)
    if (!goal.cut(i).empty() &&
        !reach_of(rules.axes, goal.cut(i), window[static_cast<size_t>(i)], to->dim(i)))
      goal.cut(i).clear();
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
    const InstructionId fill = rules.reshard.to(start, whole(call, start.shape)).id;
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

namespace {

/// Factors of a convolution without groups: batch, features, and spatial dimensions as far as the window
/// does not slide over them. Sliding ones are cut as the result wants them.
struct ConvolutionCuts {
  Tiling input, kernel, result;
};

struct Spatial {
  int64_t input, kernel, output;
  WindowDimension window;
};

std::vector<Spatial> spatial_dimensions(const RuleCall& call, const ConvolutionDimensions& labels) {
  std::vector<Spatial> all;
  const auto window = call.op.window();
  for (size_t i = 0; i < labels.input_spatial.size(); ++i)
    all.push_back({labels.input_spatial[i], labels.kernel_spatial[i], labels.output_spatial[i],
                   i < window.size() ? window[i] : WindowDimension{}});
  return all;
}

}  // namespace

// Batch and features as in a product; along spatial dimensions that the result has cut, neighbours lend what
// the window sees of them.
std::optional<SpmdValues> convolution_rule(Rules& rules, const RuleCall& call) {
  const OpContext& op = call.op;
  if (op.has(AttrKey::kSparsityConfig)) return std::nullopt;
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  std::vector<Spatial> spatial = spatial_dimensions(call, labels);
  const Factors along = factors(op);
  std::vector<FactorUse> uses = plain_uses(along);
  // Where the window slides, factors don't say enough.
  for (const Spatial& one : spatial)
    for (const int32_t f : along.arrays[0][static_cast<size_t>(one.input)])
      if (slides(one.window, call.operands[0].shape->dim(one.input), call.results[0]->dim(one.output)))
        uses[static_cast<size_t>(f)] = FactorUse::kWhole;
  FactorAxes axes = choose_axes(rules, call, along, uses);
  Tiling &input = axes.operands[0], &made = axes.results[0];
  std::vector<bool> fetched(spatial.size(), false);
  for (size_t i = 0; i < spatial.size() && call.wanted[0]; ++i) {
    const Spatial& one = spatial[i];
    const int64_t places = call.results[0]->dim(one.output);
    const AxisList& cut = call.wanted[0]->cut(one.output);
    const AxisSet used = made.used() | input.used() | axes.operands[1].used();
    if (cut.empty() || (set_of(cut) & used) != 0 || one.window.reversal ||
        !slides(one.window, call.operands[0].shape->dim(one.input), places) ||
        !reach_of(rules.axes, cut, one.window, places))
      continue;
    fetched[i] = true;
    made.cut(one.output) = cut;
    if (!call.operands[0].tiling.cut(one.input).empty()) input.cut(one.input) = cut;
  }
  SpmdValues values = resharded(rules, call, axes);
  const InstructionId zero = rules.emit.number(0, values[0].shape->element_type);
  const InstructionId kernel_zero = rules.emit.number(0, values[1].shape->element_type);
  values[0].id = rules.reshard.masked({values[0].id, input, values[0].shape}, labels.input_feature, zero);
  values[1].id = rules.reshard.masked(values[1], labels.kernel_input_feature, kernel_zero);
  std::vector<WindowDimension> window;
  for (size_t i = 0; i < spatial.size(); ++i) {
    Spatial& one = spatial[i];
    if (fetched[i] && !fetch(rules, values[0], one.input, made.cut(one.output),
                             call.results[0]->dim(one.output), one.window, zero))
      return std::nullopt;
    window.push_back(one.window);
  }
  const InstructionId leaves[] = {values[0].id, values[1].id};
  std::vector<Attr> attrs;
  if (op.has(AttrKey::kWindow)) attrs.push_back(rules.emit.window(window));
  return emit_local(rules, call, leaves, axes.results, attrs);
}

}  // namespace hlosim
