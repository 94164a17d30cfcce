// Convolutions: batch, features and groups as factors; along cut spatial dimensions what the window sees.
#include <algorithm>

#include "partition/rule_call.h"
#include "partition/window_reach.h"

namespace hlosim {

namespace {

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

/// Groups of features or batches are factors of their own: a device that has some of the groups has all that
/// they need. -1: there are none.
int32_t split_groups(const RuleCall& call, const ConvolutionDimensions& labels, Factors& along) {
  const int64_t features = call.op.integer(AttrKey::kFeatureGroupCount, 1),
                batches = call.op.integer(AttrKey::kBatchGroupCount, 1);
  if ((features > 1) == (batches > 1)) return -1;
  const auto add = [&](FactorKind kind, int64_t size) {
    along.list.push_back({kind, size, {}});
    return static_cast<int32_t>(along.list.size()) - 1;
  };
  const auto set = [&](size_t array, int64_t dimension, std::vector<int32_t> parts) {
    along.arrays[array][static_cast<size_t>(dimension)] = std::move(parts);
  };
  const ShapeRef kernel = call.operands[1].shape;
  const int32_t group = add(FactorKind::kAlong, features * batches);
  const int32_t in = add(FactorKind::kSum, kernel->dim(labels.kernel_input_feature));
  const int32_t out =
      add(FactorKind::kAlong, kernel->dim(labels.kernel_output_feature) / (features * batches));
  set(1, labels.kernel_input_feature, {in});
  set(1, labels.kernel_output_feature, {group, out});
  set(2, labels.output_feature, {group, out});
  if (features > 1) {
    set(0, labels.input_feature, {group, in});
    return group;
  }
  const int32_t batch = add(FactorKind::kAlong, call.results[0]->dim(labels.output_batch));
  set(0, labels.input_feature, {in});
  set(0, labels.input_batch, {group, batch});
  set(2, labels.output_batch, {batch});
  return group;
}

}  // namespace

// Batch and features as in a product; along spatial dimensions that the result has cut, neighbours lend what
// the window sees of them.
std::optional<SpmdValues> convolution_rule(Rules& rules, const RuleCall& call) {
  const OpContext& op = call.op;
  // XLA's verifier looks at no operand behind the kernel.
  if (op.has(AttrKey::kSparsityConfig) || op.operand_count() != 2) return std::nullopt;
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  std::vector<Spatial> spatial = spatial_dimensions(call, labels);
  Factors along = factors(op);
  const int32_t group = split_groups(call, labels, along);
  std::vector<FactorUse> uses = plain_uses(along);
  // Where the window slides, factors don't say enough.
  for (const Spatial& one : spatial) {
    if (!slides(one.window, call.operands[0].shape->dim(one.input), call.results[0]->dim(one.output)))
      continue;
    const int64_t dimensions[] = {one.input, one.kernel, one.output};
    for (size_t array = 0; array < 3; ++array)
      for (const int32_t f : along.arrays[array][static_cast<size_t>(dimensions[array])])
        uses[static_cast<size_t>(f)] = FactorUse::kWhole;
  }
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
  if (group >= 0) {
    const AttrKey key = op.integer(AttrKey::kFeatureGroupCount, 1) > 1 ? AttrKey::kFeatureGroupCount
                                                                       : AttrKey::kBatchGroupCount;
    const int64_t parts = rules.axes.length(axes.factors[static_cast<size_t>(group)]);
    attrs.push_back(Attr::make_int(key, op.integer(key, 1) / parts));
  }
  return emit_local(rules, call, leaves, axes.results, attrs);
}

}  // namespace hlosim
