// Which rule an opcode has: by what its row in the opcode table says of its dimensions and its value.
#include <iterator>

#include "partition/rule_call.h"

namespace hlosim {
namespace {

std::optional<SpmdValues> no_rule(Rules&, const RuleCall&) { return std::nullopt; }

/// In the order of DimensionRule.
constexpr PartitionRule kRules[] = {
    no_rule,  // kFixed
    source_rule,      forwarded_rule,
    by_factors,  // kEach
    by_factors,  // kElement
    no_rule,     // kCalled
    custom_call_rule,
    no_rule,     // kBitcast: layouts decide
    by_factors,  // kRecast
    by_factors,  // kBroadcast
    by_factors,  // kReshape
    by_factors,  // kTranspose
    reduce_rule,      product_rule,     convolution_rule,   slice_rule,
    pad_rule,         concatenate_rule, dynamic_slice_rule, dynamic_update_rule,
    gather_rule,      scatter_rule,     reduce_window_rule, select_and_scatter_rule,
    by_factors,  // kSort
    by_factors,  // kTopK
    by_factors,  // kSquare
    batch_norm_rule,
    no_rule,  // kAllGather
    no_rule,  // kReduceScatter
    no_rule,  // kAllToAll
    no_rule,  // kPermute
};
static_assert(std::size(kRules) == static_cast<size_t>(DimensionRule::kPermute) + 1);

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
  return reverses ? reverse_rule : kRules[static_cast<size_t>(dimensions)];
}

}  // namespace hlosim
