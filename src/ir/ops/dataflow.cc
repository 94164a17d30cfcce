#include "ops/dataflow.h"

#include <array>

#include "ops/op_table.h"

namespace hlosim {
namespace {

Dataflow made_from(const OpDef& def) {
  return {.value = def.rules.value,
          .use = def.rules.use,
          .call = def.rules.call,
          .is_constant = def.rules.number == NumberRule::kConstant,
          .is_fusion = def.has(kFusion),
          .is_copy = def.rules.value == ValueRule::kShallowCopy};
}

std::array<Dataflow, kOpcodeCount> all_dataflows() {
  std::array<Dataflow, kOpcodeCount> all;
  for (size_t i = 0; i < all.size(); ++i) all[i] = made_from(*op_table().rows[i]);
  return all;
}

}  // namespace

Dataflow dataflow(Opcode opcode) {
  // A result that is put together byte by byte has to be stored before it can be returned in a register.
  static const std::array<Dataflow, kOpcodeCount> kAll = all_dataflows();
  return kAll[static_cast<size_t>(opcode)];
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
