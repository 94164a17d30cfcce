// Custom calls: borders of regions partitioned by hand, notes that stand between values, and calls whose
// dimensions are known.
#include <algorithm>

#include "ops/custom_calls/custom_call_targets.h"
#include "partition/borders.h"
#include "partition/rule_call.h"

namespace hlosim {

Border border_of(const Instruction& instruction) {
  const std::string_view target = custom_call_target(instruction);
  if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape") return Border::kEnters;
  if (target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape") return Border::kLeaves;
  return Border::kNone;
}

namespace {

bool is_note(const OpContext& op) {
  const std::string_view target = custom_call_target(op);
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" ||
         target == "xla.sdy.ShardingGroup" || target == "xla.sdy.PropagationBarrier" ||
         target == "ShardBarrierFrom" || target == "ShardBarrierTo" || target == "sdy.sharding_constraint" ||
         target == "sdy.propagation_barrier";
}

/// Is each result one operand's array, as of a call that computes nothing? A module may say otherwise.
bool hands_operands_on(const RuleCall& call) {
  return call.results.size() <= call.operands.size() &&
         std::equal(call.results.begin(), call.results.end(), call.operands.begin(),
                    [](ShapeRef result, const SpmdValue& operand) {
                      return operand.shape->element_type == result->element_type &&
                             std::ranges::equal(operand.shape->dimensions, result->dimensions);
                    });
}

/// Batches, each of which is handled alone; the last dimension is whole.
Factors batch_factors(const RuleCall& call) {
  Factors made;
  made.operand_leaves = static_cast<int64_t>(call.operands.size());
  std::vector<ShapeRef> shapes;
  for (const SpmdValue& value : call.operands) shapes.push_back(value.shape);
  shapes.insert(shapes.end(), call.results.begin(), call.results.end());
  const int64_t rank = shapes[0]->rank();
  for (int64_t i = 0; i < rank; ++i)
    made.list.push_back({i + 1 < rank ? FactorKind::kAlong : FactorKind::kWhole, shapes[0]->dim(i), {}});
  for (const ShapeRef shape : shapes) {
    ArrayFactors& array = made.arrays.emplace_back(shape->dimensions.size());
    if (shape->rank() == rank)
      for (int64_t i = 0; i < rank; ++i) array[static_cast<size_t>(i)] = {static_cast<int32_t>(i)};
  }
  return made;
}

std::optional<SpmdValues> by(Rules& rules, const RuleCall& call, const Factors& along) {
  const FactorAxes axes = choose_axes(rules, call, along, plain_uses(along));
  std::vector<InstructionId> leaves;
  for (const SpmdValue& value : resharded(rules, call, axes)) leaves.push_back(value.id);
  return emit_local(rules, call, leaves, axes.results);
}

}  // namespace

std::optional<SpmdValues> custom_call_rule(Rules& rules, const RuleCall& call) {
  if (is_note(call.op) && hands_operands_on(call)) {
    SpmdValues values = call.operands;
    values.resize(call.results.size());
    return values;
  }
  const bool one_array =
      call.operands.size() == 1 && call.results.size() == 1 && call.operands[0].shape->is_array();
  const EvaluationKind kind = custom_call_evaluation(call.op);
  if (kind == EvaluationKind::kIdentityCall && one_array && hands_operands_on(call)) {
    Tiling tiling = call.operands[0].tiling;
    tiling.partial = 0;
    const InstructionId leaves[] = {rules.reshard.to(call.operands[0], tiling).id};
    return emit_local(rules, call, leaves, std::span(&tiling, 1));
  }
  // A stack that a loop fills: each device has its part of it from the start.
  if (kind == EvaluationKind::kAllocateBufferCall && call.operands.empty() && call.results.size() == 1) {
    Tiling tiling = call.wanted[0].value_or(whole(call, call.results[0]));
    tiling.partial = 0;
    return emit_local(rules, call, {}, std::span(&tiling, 1));
  }
  if (kind == EvaluationKind::kTopKCall && !call.operands.empty() && call.operands[0].shape->rank() > 0)
    return by(rules, call, batch_factors(call));
  return shifted_slices_rule(rules, call);
}

}  // namespace hlosim
