// Calls, loops, branches and asynchronous wrappers.
#include <algorithm>

#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

constexpr int64_t kMostIterations = 100'000;

/// First branch first, whatever the order of the text.
std::vector<ComputationId> branches_of(const Operation& op) {
  if (const Attr* branches = op.instruction.find(AttrKey::kBranchComputations))
    return {branches->computations().begin(), branches->computations().end()};
  return {op.called(AttrKey::kTrueComputation), op.called(AttrKey::kFalseComputation)};
}

ValuePtr all_unknown(const ValuePtr& value) { return unknown_value(value->shape); }

/// A value with the elements {0}, {1} and whatever contexts the shape has.
ValuePtr async_value(ShapeRef shape, std::vector<ValuePtr> operands) {
  auto value = zero_value(shape);
  auto bound = std::make_shared<Value>();
  bound->shape = shape->elements[0];
  bound->elements = std::move(operands);
  value->elements[0] = bound;
  value->elements[1] = unknown_value(shape->elements[1]);
  return value;
}

}  // namespace

ValuePtr evaluate_while(Operation& op) {
  const ComputationId condition = op.called(AttrKey::kCondition), body = op.called(AttrKey::kBody);
  ValuePtr state = op.operands[0];
  for (int64_t i = 0; i < kMostIterations; ++i) {
    const ValuePtr again = op.evaluator.call(condition, {&state, 1});
    if (!again) return nullptr;
    if (again->data[0].unknown()) return op.fail("undecided condition");
    if (again->integer() == 0) return state;
    state = op.evaluator.call(body, {&state, 1});
    if (!state) return nullptr;
  }
  return op.fail("too many iterations");
}

ValuePtr evaluate_conditional(Operation& op) {
  const std::vector<ComputationId> branches = branches_of(op);
  const Value& selector = op.operand(0);
  int64_t branch = selector.integer();
  if (selector.type() == ElementType::kPred) branch = branch != 0 ? 0 : 1;
  const auto count = static_cast<int64_t>(branches.size());
  if (branch < 0 || branch >= count) branch = count - 1;
  const auto chosen = static_cast<size_t>(branch);
  const ValuePtr result = op.evaluator.call(branches[chosen], {&op.operands[chosen + 1], 1});
  return result && selector.data[0].unknown() ? all_unknown(result) : result;
}

ValuePtr evaluate_call(Operation& op) {
  const bool fusion = op.instruction.opcode == Opcode::kFusion;
  const ComputationId called = op.called(fusion ? AttrKey::kCalls : AttrKey::kToApply);
  return op.evaluator.call(called, std::span(op.operands).first(op.evaluator.parameter_count(called)));
}

ValuePtr evaluate_async_start(Operation& op) { return async_value(op.shape(), op.operands); }

ValuePtr evaluate_async_update(Operation& op) {
  std::vector<ValuePtr> operands = op.operand(0).elements[0]->elements;
  operands.insert(operands.end(), op.operands.begin() + 1, op.operands.end());
  return async_value(op.shape(), std::move(operands));
}

ValuePtr evaluate_async_done(Operation& op) {
  const Module& module = op.evaluator.module();
  const Instruction* start = &module[op.instruction.operands[0]];
  while (start->opcode == Opcode::kAsyncUpdate) start = &module[start->operands[0]];
  if (start->opcode != Opcode::kAsyncStart) return op.fail("its start is not in this computation");
  const ComputationId called = start->find(AttrKey::kCalls)->computations()[0];
  const auto& operands = op.operand(0).elements[0]->elements;
  if (operands.size() != op.evaluator.parameter_count(called)) return op.fail("operands are missing");
  return op.evaluator.call(called, operands);
}

ValuePtr evaluate_copy_start(Operation& op) {
  auto value = zero_value(op.shape());
  value->elements[0] = retyped(op.operands[0], op.shape()->elements[0]);
  value->elements[1] = op.operands[0];
  for (size_t i = 2; i < value->elements.size(); ++i)
    value->elements[i] = unknown_value(op.shape()->elements[i]);
  return value;
}

ValuePtr evaluate_custom_call(Operation& op) {
  constexpr std::string_view kIdentities[] = {
      "Sharding",   "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "MoveToHost", "MoveToDevice",         "LayoutConstraint",     "Pin",
      "Unpin",      "ShardBarrierFrom",     "ShardBarrierTo"};
  std::string_view target = op.text(AttrKey::kCustomCallTarget);
  if (target.size() >= 2) target = target.substr(1, target.size() - 2);
  if (target == "TopK" && op.shape()->is_tuple()) return evaluate_topk(op);
  const bool identity =
      std::find(std::begin(kIdentities), std::end(kIdentities), target) != std::end(kIdentities);
  if (!identity || op.operands.size() != 1) return op.fail(fmt::format("target {} is not known", target));
  if (op.shape()->element_count() != op.operand(0).shape->element_count())
    return op.fail("another number of elements");
  auto value = std::make_shared<Value>(op.operand(0));
  value->shape = op.shape();
  if (op.shape()->is_array())
    value->sizes.assign(op.shape()->dimensions.begin(), op.shape()->dimensions.end());
  return value;
}

/// With one device a group has one member, which gets its own operand.
ValuePtr evaluate_lone_collective(Operation& op) {
  if (op.operands.size() != 1 || !compatible(op.shape(), op.operand(0).shape))
    return op.fail("several devices");
  if (op.instruction.opcode == Opcode::kCollectivePermute &&
      op.instruction.find(AttrKey::kSourceTargetPairs)->int_lists().empty())
    return zero_value(op.shape());
  return op.operands[0];
}

}  // namespace hlosim::test
