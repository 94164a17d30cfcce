#include "loop_factors/factors.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/enum_rows.h"
#include "loop_factors/factor_rules.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

void fixed_factors(FactorBuilder& make) { make.fix_all(); }

// ── the same elements, in order or not ──────────────────────────

void each_factors(FactorBuilder& make) {
  const int64_t count = std::min(make.made.operand_leaves, make.result_count());
  for (int64_t leaf = 0; leaf < count; ++leaf) make.same({leaf, make.result(leaf)});
}

void forwarded_factors(FactorBuilder& make) {
  std::vector<int64_t> leaves;
  if (make.op.def().forward) make.op.def().forward(make.op, leaves);
  std::map<int64_t, std::vector<int64_t>> by_operand;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
    if (leaves[leaf] >= 0) by_operand[leaves[leaf]].push_back(make.result(static_cast<int64_t>(leaf)));
  for (auto& [operand, arrays] : by_operand) {
    arrays.push_back(operand);
    make.same(arrays);
  }
}

void element_factors(FactorBuilder& make) {
  const int64_t rank = make.rank(make.result());
  for (int64_t i = 0; i < rank; ++i) {
    std::vector<DimensionPlace> places;
    for (int64_t array = 0; array < make.array_count(); ++array)
      if (make.rank(array) == rank) places.push_back({array, i});
    make.tie(FactorKind::kAlong, places);
  }
}

void recast_factors(FactorBuilder& make) {
  make.same({0, make.result()});
  for (const int64_t array : {int64_t{0}, make.result()})
    for (int64_t i = std::min(make.rank(0), make.rank(make.result())); i < make.rank(array); ++i)
      make.fix({array, i});
}

std::vector<DimensionPlace> major_to_minor(const FactorBuilder& make, int64_t array, bool physical) {
  const ShapeRef shape = make.shapes[static_cast<size_t>(array)];
  std::vector<DimensionPlace> places;
  if (physical && shape->layout)
    for (size_t i = shape->layout->minor_to_major.size(); i-- > 0;)
      places.push_back({array, shape->layout->minor_to_major[i]});
  else
    for (int64_t i = 0; i < shape->rank(); ++i) places.push_back({array, i});
  return places;
}

void reshape_factors(FactorBuilder& make, bool physical) {
  const bool arrays = make.made.operand_leaves == 1 && make.result_count() == 1;
  if (!arrays) return each_factors(make);
  make.reshape(major_to_minor(make, 0, physical), major_to_minor(make, make.result(), physical));
}

void broadcast_factors(FactorBuilder& make) {
  const auto dimensions = make.op.ints(AttrKey::kDimensions);
  for (size_t i = 0; i < dimensions.size(); ++i)
    make.tie(FactorKind::kAlong, {{0, static_cast<int64_t>(i)}, {make.result(), dimensions[i]}});
}

void transpose_factors(FactorBuilder& make) {
  const auto dimensions = make.op.ints(AttrKey::kDimensions);
  for (size_t i = 0; i < dimensions.size(); ++i)
    make.tie(FactorKind::kAlong, {{0, dimensions[i]}, {make.result(), static_cast<int64_t>(i)}});
}

/// Calls that have rules of their own between sizes, of which nothing is said here.
bool has_own_sizes(const OpContext& op) {
  if (op.has(AttrKey::kCalledComputations) || op.has(AttrKey::kToApply)) return true;
  switch (custom_call_evaluation(op)) {
    case EvaluationKind::kTopKCall:
    case EvaluationKind::kConcatBitcastCall:
    case EvaluationKind::kDequantizeCall:
    case EvaluationKind::kBlockScaledDotCall:
    case EvaluationKind::kRngSeedCall:
      return true;
    default:
      return false;
  }
}

void by_size_factors(FactorBuilder& make) {
  if (has_own_sizes(make.op)) return make.fix_all();
  std::map<int64_t, std::vector<DimensionPlace>> by_size;
  for (int64_t array = 0; array < make.array_count(); ++array)
    for (int64_t i = 0; i < make.rank(array); ++i)
      if (make.size({array, i}) > 1) by_size[make.size({array, i})].push_back({array, i});
  for (const auto& [size, places] : by_size) make.tie(FactorKind::kWhole, places);
}

void no_factors(FactorBuilder&) {}
void bitcast_factors(FactorBuilder& make) { reshape_factors(make, true); }
void plain_reshape_factors(FactorBuilder& make) { reshape_factors(make, false); }

struct RuleRow {
  DimensionRule dimensions;
  void (*rule)(FactorBuilder&);
};
constexpr RuleRow kRules[] = {
    {DimensionRule::kFixed, fixed_factors},
    {DimensionRule::kFree, no_factors},
    {DimensionRule::kForwards, forwarded_factors},
    {DimensionRule::kEach, each_factors},
    {DimensionRule::kElement, element_factors},
    {DimensionRule::kCalled, no_factors},
    {DimensionRule::kBySize, by_size_factors},
    {DimensionRule::kBitcast, bitcast_factors},
    {DimensionRule::kRecast, recast_factors},
    {DimensionRule::kBroadcast, broadcast_factors},
    {DimensionRule::kReshape, plain_reshape_factors},
    {DimensionRule::kTranspose, transpose_factors},
    {DimensionRule::kReduce, reduce_factors},
    {DimensionRule::kProduct, product_factors},
    {DimensionRule::kConvolution, convolution_factors},
    {DimensionRule::kSlice, slice_factors},
    {DimensionRule::kPad, pad_factors},
    {DimensionRule::kConcatenate, concatenate_factors},
    {DimensionRule::kDynamicSlice, dynamic_slice_factors},
    {DimensionRule::kDynamicUpdate, dynamic_update_factors},
    {DimensionRule::kGather, gather_factors},
    {DimensionRule::kScatter, scatter_factors},
    {DimensionRule::kWindow, window_factors},
    {DimensionRule::kSelectAndScatter, select_and_scatter_factors},
    {DimensionRule::kSort, sort_factors},
    {DimensionRule::kTopK, top_k_factors},
    {DimensionRule::kSquare, square_factors},
    {DimensionRule::kBatchNorm, batch_norm_factors},
    {DimensionRule::kAllGather, all_gather_factors},
    {DimensionRule::kReduceScatter, reduce_scatter_factors},
    {DimensionRule::kAllToAll, all_to_all_factors},
    {DimensionRule::kPermute, permute_factors},
};
static_assert(rows_follow(kRules, &RuleRow::dimensions) &&
              std::size(kRules) == static_cast<size_t>(DimensionRule::kPermute) + 1);

}  // namespace

Factors factors(const OpContext& op) {
  FactorBuilder make(op);
  const DimensionRule rule = op.def().rules.dimensions;
  kRules[static_cast<size_t>(rule)].rule(make);
  return std::move(make.made);
}

}  // namespace hlosim
