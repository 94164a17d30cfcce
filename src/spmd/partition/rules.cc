// Which rule an opcode has: by what its row in the opcode table says of its dimensions and its value.
#include <iterator>

#include "base/enum_rows.h"
#include "partition/rule_call.h"

namespace hlosim {
namespace {

std::optional<SpmdValues> no_rule(Rules&, const RuleCall&) { return std::nullopt; }

struct RuleRow {
  DimensionRule dimensions;
  PartitionRule rule;
};
constexpr RuleRow kRules[] = {
    {DimensionRule::kFixed, no_rule},
    {DimensionRule::kFree, source_rule},
    {DimensionRule::kForwards, forwarded_rule},
    {DimensionRule::kEach, by_factors},
    {DimensionRule::kElement, by_factors},
    {DimensionRule::kCalled, no_rule},
    {DimensionRule::kBySize, custom_call_rule},
    {DimensionRule::kBitcast, no_rule},  // layouts decide
    {DimensionRule::kRecast, by_factors},
    {DimensionRule::kBroadcast, by_factors},
    {DimensionRule::kReshape, by_factors},
    {DimensionRule::kTranspose, by_factors},
    {DimensionRule::kReduce, reduce_rule},
    {DimensionRule::kProduct, product_rule},
    {DimensionRule::kConvolution, convolution_rule},
    {DimensionRule::kSlice, slice_rule},
    {DimensionRule::kPad, pad_rule},
    {DimensionRule::kConcatenate, concatenate_rule},
    {DimensionRule::kDynamicSlice, dynamic_slice_rule},
    {DimensionRule::kDynamicUpdate, dynamic_update_rule},
    {DimensionRule::kGather, gather_rule},
    {DimensionRule::kScatter, scatter_rule},
    {DimensionRule::kWindow, reduce_window_rule},
    {DimensionRule::kSelectAndScatter, select_and_scatter_rule},
    {DimensionRule::kSort, by_factors},
    {DimensionRule::kTopK, by_factors},
    {DimensionRule::kSquare, by_factors},
    {DimensionRule::kBatchNorm, batch_norm_rule},
    {DimensionRule::kAllGather, no_rule},
    {DimensionRule::kReduceScatter, no_rule},
    {DimensionRule::kAllToAll, no_rule},
    {DimensionRule::kPermute, no_rule},
};
static_assert(rows_follow(kRules, &RuleRow::dimensions) &&
              std::size(kRules) == static_cast<size_t>(DimensionRule::kPermute) + 1);

}  // namespace

PartitionRule rule_of(const OpContext& op) {
  const OpRules& row = op.def().rules;
  if (op.def().evaluation == EvaluationKind::kIota) return iota_rule;
  const bool reverses =
      row.dimensions == DimensionRule::kElement && op.has(AttrKey::kDimensions) && !op.has(AttrKey::kToApply);
  if (op.has(AttrKey::kNumCarries)) return no_rule;  // scans' computations have the sizes of whole slices
  const DimensionRule dimensions = row.dimensions;
  // Scales of blocks have no value that adds nothing, so nothing is summed in parts.
  if (dimensions == DimensionRule::kProduct && op.operand_count() > 3) return by_factors;
  // Sizes of groups that differ by batch lie along dimensions that factors say nothing of.
  if (op.has(AttrKey::kLhsRaggedDims) && op.operand_shape(2)->rank() > 1) return no_rule;
  return reverses ? reverse_rule : kRules[static_cast<size_t>(dimensions)].rule;
}

}  // namespace hlosim
