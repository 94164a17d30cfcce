#include "ops/dataflow.h"

#include <array>

namespace hlosim {
namespace {

using Rows = std::array<Dataflow, kOpcodeCount>;

Rows make_rows() {
  Rows rows{};
  const auto row = [&](Opcode opcode) -> Dataflow& { return rows[static_cast<size_t>(opcode)]; };
  row(Opcode::kConstant).is_constant = true;
  row(Opcode::kParameter).value = ValueRule::kParameter;
  row(Opcode::kTuple) = {.value = ValueRule::kTuple, .use = UseRule::kNone};
  row(Opcode::kCopy) = {.value = ValueRule::kShallowCopy, .use = UseRule::kTop, .is_copy = true};
  row(Opcode::kGetTupleElement) = {.value = ValueRule::kElement, .use = UseRule::kTop};
  row(Opcode::kDomain) = {.value = ValueRule::kForwards, .use = UseRule::kNone};
  for (const Opcode opcode :
       {Opcode::kBitcast, Opcode::kAddDependency, Opcode::kOptimizationBarrier, Opcode::kAllReduceDone})
    row(opcode).value = ValueRule::kForwards;

  row(Opcode::kWhile) = {.value = ValueRule::kLoop, .call = CallRule::kControlFlow};
  row(Opcode::kConditional) = {.value = ValueRule::kConditional, .call = CallRule::kControlFlow};
  row(Opcode::kCall) = {.value = ValueRule::kCall, .call = CallRule::kControlFlow};
  row(Opcode::kAsyncStart) = {.value = ValueRule::kAsyncStart, .call = CallRule::kControlFlow};
  row(Opcode::kAsyncUpdate) = {.value = ValueRule::kAsyncUpdate, .call = CallRule::kControlFlow};
  row(Opcode::kAsyncDone) = {.value = ValueRule::kAsyncDone, .call = CallRule::kControlFlow};
  for (const Opcode opcode :
       {Opcode::kAllReduce, Opcode::kAllReduceStart, Opcode::kReduceScatter, Opcode::kCustomCall,
        Opcode::kFusion, Opcode::kMap, Opcode::kReduce, Opcode::kReduceWindow, Opcode::kScan,
        Opcode::kScatter, Opcode::kSelectAndScatter, Opcode::kSort, Opcode::kTopK})
    row(opcode).call = CallRule::kEmbedded;
  row(Opcode::kFusion).is_fusion = true;

  row(Opcode::kCopyStart).value = ValueRule::kCopyStart;
  row(Opcode::kCopyDone).value = ValueRule::kCopyDone;
  row(Opcode::kAllGatherStart).value = ValueRule::kAllGatherStart;
  row(Opcode::kAllGatherDone).value = ValueRule::kAllGatherDone;
  row(Opcode::kCollectivePermuteStart).value = ValueRule::kPermuteStart;
  row(Opcode::kCollectivePermuteDone).value = ValueRule::kPermuteDone;
  row(Opcode::kSend).value = ValueRule::kSend;
  row(Opcode::kRecvDone).value = ValueRule::kRecvDone;
  return rows;
}

}  // namespace

const Dataflow& dataflow(Opcode opcode) {
  static const Rows rows = make_rows();
  return rows[static_cast<size_t>(opcode)];
}

std::vector<ComputationId> called_in_order(const Instruction& instruction) {
  std::vector<ComputationId> called;
  if (const Attr* condition = instruction.find(AttrKey::kCondition);
      condition && instruction.find(AttrKey::kBody))
    return {condition->computations()[0], instruction.find(AttrKey::kBody)->computations()[0]};
  if (const Attr* chosen = instruction.find(AttrKey::kTrueComputation))
    if (const Attr* other = instruction.find(AttrKey::kFalseComputation))
      return {chosen->computations()[0], other->computations()[0]};
  for_each_called(instruction, [&](ComputationId id) { called.push_back(id); });
  return called;
}

ComputationId loop_body(const Instruction& loop) { return loop.find(AttrKey::kBody)->computations()[0]; }

}  // namespace hlosim
