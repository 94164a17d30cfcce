// What does the same for each of many batches: products of groups or blocks, transforms, scans.
#include <algorithm>

#include "base/contains.h"
#include "loop_factors/factor_rules.h"
#include "ops/dot_roles.h"

namespace hlosim {
namespace {

/// One dimension of a product: where it is in either operand, -1: nowhere.
struct ProductDimension {
  int64_t lhs = -1, rhs = -1;
  bool summed = false;
};

/// In the order of the result: batch, free ones of lhs, free ones of rhs; those that are summed come last.
std::vector<ProductDimension> product_dimensions(const FactorBuilder& make) {
  const DotRoles roles = dot_roles(make.op);
  std::vector<ProductDimension> all;
  for (size_t i = 0; i < roles.lhs_batch.size(); ++i) all.push_back({roles.lhs_batch[i], roles.rhs_batch[i]});
  for (int64_t i = 0; i < make.rank(0); ++i)
    if (!contains(roles.lhs_batch, i) && !contains(roles.lhs_contracting, i)) all.push_back({i, -1});
  for (int64_t i = 0; i < make.rank(1); ++i)
    if (!contains(roles.rhs_batch, i) && !contains(roles.rhs_contracting, i)) all.push_back({-1, i});
  for (size_t i = 0; i < roles.lhs_contracting.size(); ++i)
    all.push_back({roles.lhs_contracting[i], roles.rhs_contracting[i], true});
  return all;
}

}  // namespace

void ragged_product_factors(FactorBuilder& make) {
  const int64_t ragged = make.op.ints(AttrKey::kLhsRaggedDims)[0];
  const auto groups = make.op.ints(AttrKey::kRhsGroupDims);
  const std::vector<ProductDimension> all = product_dimensions(make);
  const bool sums_ragged = std::any_of(
      all.begin(), all.end(), [&](const ProductDimension& d) { return d.summed && d.lhs == ragged; });
  int64_t out = 0;
  if (sums_ragged) make.fix({make.result(), out++});  // a result for each group
  for (const ProductDimension& dimension : all) {
    std::vector<DimensionPlace> places;
    if (dimension.lhs >= 0) places.push_back({0, dimension.lhs});
    if (dimension.rhs >= 0) places.push_back({1, dimension.rhs});
    const bool is_group = dimension.lhs < 0 && contains(groups, dimension.rhs);
    if (!dimension.summed && !is_group) places.push_back({make.result(), out++});
    if (is_group || (dimension.lhs >= 0 && dimension.lhs == ragged))
      for (const DimensionPlace& place : places) make.fix(place);
    else
      make.tie(dimension.summed ? FactorKind::kSum : FactorKind::kAlong, places);
  }
  for (int64_t i = 0; i < make.rank(2); ++i) make.fix({2, i});
}

void scaled_product_factors(FactorBuilder& make) {
  int64_t out = 0;
  for (const ProductDimension& dimension : product_dimensions(make)) {
    std::vector<DimensionPlace> places, blocks;
    const auto add = [&](int64_t operand, int64_t i) {
      if (i < 0) return;
      places.push_back({operand, i});
      if (make.rank(operand + 2) > i) blocks.push_back({operand + 2, i});
    };
    add(0, dimension.lhs);
    add(1, dimension.rhs);
    if (!dimension.summed) places.push_back({make.result(), out++});
    const bool alike = std::all_of(blocks.begin(), blocks.end(), [&](const DimensionPlace& block) {
      return make.size(block) == make.size(places[0]);
    });
    places.insert(places.end(), blocks.begin(), blocks.end());
    if (alike)
      make.tie(dimension.summed ? FactorKind::kSum : FactorKind::kAlong, places);
    else
      for (const DimensionPlace& place : places) make.fix(place);
  }
}

void spectral_factors(FactorBuilder& make) {
  const int64_t rank = make.rank(0);
  const int64_t batches = rank - static_cast<int64_t>(make.op.ints(AttrKey::kFftLength).size());
  for (int64_t i = 0; i < rank; ++i) {
    if (i < batches) {
      make.tie(FactorKind::kAlong, {{0, i}, {make.result(), i}});
      continue;
    }
    make.fix({0, i});
    make.fix({make.result(), i});
  }
}

/// Inputs and outputs are walked through along one dimension; the others, and those of the carries, belong
/// together as far as all arrays agree in them.
void scan_factors(FactorBuilder& make) {
  const int64_t along = make.op.ints(AttrKey::kDimensions)[0], rank = make.rank(0);
  const int64_t inputs = make.made.operand_leaves - make.op.integer(AttrKey::kNumCarries);
  const int64_t outputs = make.result_count() - make.op.integer(AttrKey::kNumCarries);
  std::vector<std::vector<DimensionPlace>> places(static_cast<size_t>(rank));
  for (int64_t array = 0; array < make.array_count(); ++array) {
    const int64_t result = array - make.result();
    const bool carry = result < 0 ? array >= inputs : result >= outputs;
    for (int64_t i = 0; i < make.rank(array); ++i) {
      const int64_t at = i + (carry && i >= along);
      const bool fits = make.rank(array) + carry == rank && make.size({array, i}) == make.size({0, at});
      if (fits)
        places[static_cast<size_t>(at)].push_back({array, i});
      else
        make.fix({array, i});
    }
  }
  for (int64_t i = 0; i < rank; ++i)
    make.tie(i == along ? FactorKind::kWhole : FactorKind::kAlong, places[static_cast<size_t>(i)]);
}

}  // namespace hlosim
