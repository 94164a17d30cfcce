// Collectives: each member has a part of what all have together.
#include <algorithm>

#include "loop_factors/factor_rules.h"
#include "ops/collective_groups.h"

namespace hlosim {
namespace {

/// All dimensions of `parts` are those of `whole`, but for `along`, of which they have a part.
void parts_of(FactorBuilder& make, std::span<const int64_t> parts, int64_t whole, int64_t along) {
  for (int64_t i = 0; i < make.rank(whole); ++i) {
    std::vector<DimensionPlace> places = {{whole, i}};
    for (const int64_t part : parts) places.push_back({part, i});
    make.tie(i == along ? FactorKind::kPart : FactorKind::kAlong, places);
  }
}

}  // namespace

void all_gather_factors(FactorBuilder& make) {
  const int64_t along = make.op.ints(AttrKey::kDimensions)[0], count = make.made.operand_leaves;
  const bool starts = make.op.def().rules.value == ValueRule::kAllGatherStart;  // (operands, results)
  for (int64_t leaf = 0; leaf < count; ++leaf) {
    std::vector<int64_t> parts = {leaf};
    if (starts) parts.push_back(make.result(leaf));
    parts_of(make, parts, make.result(starts ? count + leaf : leaf), along);
  }
}

void reduce_scatter_factors(FactorBuilder& make) {
  const int64_t along = make.op.ints(AttrKey::kDimensions)[0];
  for (int64_t leaf = 0; leaf < make.made.operand_leaves; ++leaf) {
    const int64_t part[] = {make.result(leaf)};
    parts_of(make, part, leaf, along);
  }
}

void all_to_all_factors(FactorBuilder& make) {
  const auto along = make.op.ints(AttrKey::kDimensions);
  const Result<GroupMode> mode = group_mode(make.op);
  const int64_t members = mode ? group_size(make.op, *mode, declared_grid(make.op.module())) : 0;
  for (int64_t leaf = 0; leaf < std::min(make.made.operand_leaves, make.result_count()); ++leaf)
    for (int64_t i = 0; i < make.rank(leaf); ++i) {
      const DimensionPlace here{leaf, i}, there{make.result(leaf), i};
      if (along.empty() || along[0] != i || make.size(here) <= 0)
        make.tie(FactorKind::kAlong, {here, there});
      else if (members > 0 && make.size(here) % members == 0)
        make.tie(FactorKind::kPart, {here, there}, {make.size(here) / members});
      else
        make.tie(FactorKind::kFixed, {here, there});
    }
}

void permute_factors(FactorBuilder& make) {
  if (make.op.has(AttrKey::kSliceSizes)) return make.fix_all();
  const int64_t count = make.made.operand_leaves;
  const bool starts = make.op.def().rules.value == ValueRule::kPermuteStart;
  for (int64_t leaf = 0; leaf < count; ++leaf) {
    std::vector<int64_t> arrays = {leaf};
    if (leaf < make.result_count()) arrays.push_back(make.result(leaf));
    if (starts && count + leaf < make.result_count()) arrays.push_back(make.result(count + leaf));
    make.same(arrays);
  }
}

}  // namespace hlosim
