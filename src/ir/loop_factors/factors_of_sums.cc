// Sums, products, windows, orders and matrices.
#include <algorithm>

#include "base/contains.h"
#include "loop_factors/factor_rules.h"
#include "loop_factors/window_form.h"
#include "ops/dot_roles.h"

namespace hlosim {
namespace {

/// Dimension `i` of the first `count` arrays and of all leaves of the result.
std::vector<DimensionPlace> in_all(const FactorBuilder& make, int64_t count, int64_t i) {
  std::vector<DimensionPlace> places;
  for (int64_t array = 0; array < count; ++array) places.push_back({array, i});
  for (int64_t leaf = 0; leaf < make.result_count(); ++leaf) places.push_back({make.result(leaf), i});
  return places;
}

}  // namespace

void reduce_factors(FactorBuilder& make) {
  const auto summed = make.op.ints(AttrKey::kDimensions);
  const int64_t inputs = make.made.operand_leaves / 2;
  int64_t kept = 0;
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const bool is_summed = contains(summed, i);
    std::vector<DimensionPlace> places;
    for (int64_t array = 0; array < inputs; ++array) places.push_back({array, i});
    for (int64_t leaf = 0; leaf < make.result_count() && !is_summed; ++leaf)
      places.push_back({make.result(leaf), kept});
    make.tie(is_summed ? FactorKind::kSum : FactorKind::kAlong, places);
    kept += !is_summed;
  }
}

void product_factors(FactorBuilder& make) {
  if (make.op.has(AttrKey::kLhsRaggedDims)) return ragged_product_factors(make);
  if (make.op.operand_count() == 4 && !make.op.has(AttrKey::kSparsityConfig))
    return scaled_product_factors(make);
  if (make.op.has(AttrKey::kSparsityConfig) || make.op.operand_count() != 2) return make.fix_all();
  const DotRoles roles = dot_roles(make.op);
  int64_t out = 0;
  for (size_t i = 0; i < roles.lhs_batch.size(); ++i)
    make.tie(FactorKind::kAlong, {{0, roles.lhs_batch[i]}, {1, roles.rhs_batch[i]}, {make.result(), out++}});
  for (size_t i = 0; i < roles.lhs_contracting.size(); ++i)
    make.tie(FactorKind::kSum, {{0, roles.lhs_contracting[i]}, {1, roles.rhs_contracting[i]}});
  for (int64_t i = 0; i < make.rank(0); ++i)
    if (!contains(roles.lhs_batch, i) && !contains(roles.lhs_contracting, i))
      make.tie(FactorKind::kAlong, {{0, i}, {make.result(), out++}});
  for (int64_t i = 0; i < make.rank(1); ++i)
    if (!contains(roles.rhs_batch, i) && !contains(roles.rhs_contracting, i))
      make.tie(FactorKind::kAlong, {{1, i}, {make.result(), out++}});
}

namespace {

/// Along a dimension of a window; `kernel`: none for windows without elements of their own.
void slide(FactorBuilder& make, const WindowDimension& window, std::span<const DimensionPlace> bases,
           std::span<const DimensionPlace> kernel, std::span<const DimensionPlace> results) {
  const WindowForm form = window_form(make.size(bases[0]), window, make.size(results[0]));
  std::vector<DimensionPlace> tied, fixed;
  const auto put = [&](std::span<const DimensionPlace> places, bool is_tied) {
    std::vector<DimensionPlace>& list = is_tied ? tied : fixed;
    list.insert(list.end(), places.begin(), places.end());
  };
  put(bases, form != WindowForm::kOther && form != WindowForm::kSpread);
  put(kernel, window_follows(form));
  put(results, form != WindowForm::kOther && form != WindowForm::kSum);
  if (!tied.empty()) make.tie(form == WindowForm::kSum ? FactorKind::kSum : FactorKind::kAlong, tied);
  for (const DimensionPlace& place : fixed) make.fix(place);
}

}  // namespace

void convolution_factors(FactorBuilder& make) {
  const OpContext& op = make.op;
  if (op.has(AttrKey::kSparsityConfig)) return make.fix_all();
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  const int64_t out = make.result();
  const bool groups_batch = op.integer(AttrKey::kBatchGroupCount, 1) > 1,
             groups = groups_batch || op.integer(AttrKey::kFeatureGroupCount, 1) > 1;
  const DimensionPlace batch{0, labels.input_batch}, batch_out{out, labels.output_batch},
      feature{0, labels.input_feature}, kernel_in{1, labels.kernel_input_feature},
      kernel_out{1, labels.kernel_output_feature}, feature_out{out, labels.output_feature};
  if (groups_batch)
    for (const DimensionPlace& place : {batch, batch_out}) make.fix(place);
  else
    make.tie(FactorKind::kAlong, {batch, batch_out});
  if (groups) {
    for (const DimensionPlace& place : {feature, kernel_in, kernel_out, feature_out}) make.fix(place);
  } else {
    make.tie(FactorKind::kSum, {feature, kernel_in});
    make.tie(FactorKind::kAlong, {kernel_out, feature_out});
  }
  const auto window = op.window();
  for (size_t i = 0; i < labels.input_spatial.size(); ++i) {
    const DimensionPlace base[] = {{0, labels.input_spatial[i]}}, kernel[] = {{1, labels.kernel_spatial[i]}},
                         result[] = {{out, labels.output_spatial[i]}};
    slide(make, i < window.size() ? window[i] : WindowDimension{}, base, kernel, result);
  }
}

void window_factors(FactorBuilder& make) {
  const int64_t inputs = make.made.operand_leaves / 2;
  for (int64_t i = 0; i < make.rank(0); ++i) {
    std::vector<DimensionPlace> bases, results;
    for (int64_t array = 0; array < inputs; ++array) bases.push_back({array, i});
    for (int64_t leaf = 0; leaf < make.result_count(); ++leaf) results.push_back({make.result(leaf), i});
    slide(make, make.op.window()[static_cast<size_t>(i)], bases, {}, results);
  }
}

void select_and_scatter_factors(FactorBuilder& make) {
  const auto window = make.op.window();
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const DimensionPlace bases[] = {{0, i}, {make.result(), i}}, source[] = {{1, i}};
    slide(make, static_cast<size_t>(i) < window.size() ? window[static_cast<size_t>(i)] : WindowDimension{},
          bases, {}, source);
  }
}

void sort_factors(FactorBuilder& make) {
  if (make.op.has(AttrKey::kNumCarries)) return scan_factors(make);
  const int64_t along = make.op.ints(AttrKey::kDimensions)[0];
  for (int64_t i = 0; i < make.rank(0); ++i)
    make.tie(i == along ? FactorKind::kWhole : FactorKind::kAlong, in_all(make, make.made.operand_leaves, i));
}

void top_k_factors(FactorBuilder& make) {
  for (int64_t i = 0; i < make.rank(0); ++i)
    make.tie(i + 1 == make.rank(0) ? FactorKind::kWhole : FactorKind::kAlong, in_all(make, 1, i));
}

void square_factors(FactorBuilder& make) {
  if (make.op.has(AttrKey::kFftLength)) return spectral_factors(make);
  const int64_t rank = make.rank(0), count = make.op.operand_count();
  for (int64_t i = 0; i < rank - 2; ++i) make.tie(FactorKind::kAlong, in_all(make, count, i));
  if (count == 1) {  // the factor of a matrix
    make.tie(FactorKind::kWhole, {{0, rank - 2}, {0, rank - 1}, {1, rank - 2}, {1, rank - 1}});
    return;
  }
  const bool left = make.op.flag(AttrKey::kLeftSide);
  const int64_t shared = rank - (left ? 2 : 1), other = rank - (left ? 1 : 2);
  make.tie(FactorKind::kWhole, {{0, rank - 2}, {0, rank - 1}, {1, shared}, {make.result(), shared}});
  make.tie(FactorKind::kAlong, {{1, other}, {make.result(), other}});
}

void batch_norm_factors(FactorBuilder& make) {
  const int64_t rank = make.rank(0), feature = make.op.integer(AttrKey::kFeatureIndex);
  for (int64_t i = 0; i < rank; ++i) {
    std::vector<DimensionPlace> places;
    for (int64_t array = 0; array < make.array_count(); ++array)
      if (make.rank(array) == rank)
        places.push_back({array, i});
      else if (i == feature)
        places.push_back({array, 0});
    make.tie(FactorKind::kAlong, places);
  }
}

}  // namespace hlosim
