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
    gather_rule,      scatter_rule,     reduce_window_rule,
    no_rule,     // kSelectAndScatter
    by_factors,  // kSort
    by_factors,  // kTopK
    by_factors,  // kSquare
    no_rule,     // kBatchNorm: sums over its batch
    no_rule,     // kAllGather
    no_rule,     // kReduceScatter
    no_rule,     // kAllToAll
    no_rule,     // kPermute
};
static_assert(std::size(kRules) == static_cast<size_t>(DimensionRule::kPermute) + 1);

}  // namespace

PartitionRule rule_of(const OpContext& op) {
  const OpRules& row = op.def().rules;
  if (op.def().evaluation == EvaluationKind::kIota) return iota_rule;
  const bool reverses =
      row.dimensions == DimensionRule::kElement && op.has(AttrKey::kDimensions) && !op.has(AttrKey::kToApply);
  // Scans' computations have the sizes of whole slices; products of more than two operands have groups or
  // blocks.
  const bool is_plain_product = row.dimensions != DimensionRule::kProduct || op.operand_count() == 2;
  if (op.has(AttrKey::kNumCarries) || !is_plain_product) return no_rule;
  const DimensionRule dimensions = row.dimensions;
  return reverses ? reverse_rule : kRules[static_cast<size_t>(dimensions)];
}

}  // namespace hlosim
