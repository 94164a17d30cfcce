#include "loop_factors/loose_pairs.h"

#include <algorithm>

#include "loop_factors/window_form.h"

namespace hlosim {
namespace {

void add_pad(const OpContext& op, std::vector<LoosePair>& pairs) {
  int64_t i = 0;
  for (const auto& padding : op.int_lists(AttrKey::kPadding)) {
    if (padding[2] != 0) pairs.push_back({0, i, 0, i});
    ++i;
  }
}

/// One dimension of a convolution that a window slides over.
struct Slid {
  int64_t input, kernel, output;
  WindowDimension window;
};

/// Where the kernel is as large as what comes out, it is rather what comes out that is small.
bool kernel_is_small(const OpContext& op, const std::vector<Slid>& dimensions) {
  int64_t kernels = 1, outputs = 1;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t kernel = op.operand_shape(1)->dim(dimensions[i].kernel),
                  output = op.shape()->dim(dimensions[i].output);
    kernels *= kernel;
    outputs *= output;
    if (kernel >= output && (i < 2 || kernel > 3 || kernels >= outputs)) return false;
  }
  return true;
}

void add_convolution(const OpContext& op, std::vector<LoosePair>& pairs) {
  if (op.has(AttrKey::kSparsityConfig)) return;
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  const auto window = op.window();
  std::vector<Slid> dimensions;
  for (size_t i = 0; i < labels.input_spatial.size(); ++i)
    dimensions.push_back({labels.input_spatial[i], labels.kernel_spatial[i], labels.output_spatial[i],
                          i < window.size() ? window[i] : WindowDimension{}});
  if (!kernel_is_small(op, dimensions)) return;
  for (const Slid& one : dimensions)
    if (window_form(op.operand_shape(0)->dim(one.input), one.window, op.shape()->dim(one.output)) ==
        WindowForm::kOther)
      pairs.push_back({0, one.input, 0, one.output, false});
}

/// `dilated`: of the window too, not of the base alone.
bool is_dilated(const WindowDimension& window, bool dilated) {
  return window.base_dilation > 1 || (dilated && window.window_dilation > 1);
}

void add_windows(const OpContext& op, std::vector<LoosePair>& pairs) {
  const auto window = op.window();
  if (std::any_of(window.begin(), window.end(), [](const auto& w) { return is_dilated(w, true); })) return;
  const ShapeRef base = op.operand_shape(0),
                 result = op.shape()->is_tuple() ? op.shape()->elements[0] : op.shape();
  const int64_t leaves = leaf_count(op.shape());
  for (size_t i = 0; i < window.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    if (window_form(base->dim(k), window[i], result->dim(k)) != WindowForm::kOther) continue;
    for (int64_t leaf = 0; leaf < leaves; ++leaf) pairs.push_back({leaf, k, leaf, k});
  }
}

void add_select_and_scatter(const OpContext& op, std::vector<LoosePair>& pairs) {
  const auto window = op.window();
  if (std::any_of(window.begin(), window.end(), [](const auto& w) { return is_dilated(w, false); })) return;
  for (size_t i = 0; i < window.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    if (window_form(op.operand_shape(0)->dim(k), window[i], op.operand_shape(1)->dim(k)) ==
        WindowForm::kOther)
      pairs.push_back({0, k, 0, k});
  }
}

}  // namespace

std::vector<LoosePair> loose_pairs(const OpContext& op) {
  std::vector<LoosePair> pairs;
  switch (op.def().rules.dimensions) {
    case DimensionRule::kPad:
      add_pad(op, pairs);
      break;
    case DimensionRule::kConvolution:
      add_convolution(op, pairs);
      break;
    case DimensionRule::kWindow:
      add_windows(op, pairs);
      break;
    case DimensionRule::kSelectAndScatter:
      add_select_and_scatter(op, pairs);
      break;
    default:
      break;
  }
  return pairs;
}

}  // namespace hlosim
