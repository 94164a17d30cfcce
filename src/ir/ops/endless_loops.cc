#include "ops/endless_loops.h"

#include <algorithm>

#include "hlo/effects.h"
#include "hlo/literal.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

/// What `id` is a copy of, or itself.
InstructionId without_copies(const Module& module, InstructionId id) {
  while (module[id].opcode == Opcode::kCopy) id = module[id].operands[0];
  return id;
}

/// The number of the element of the state that `id` is; -1: it is none.
int64_t state_element(const Module& module, InstructionId id, InstructionId state) {
  const Instruction& instruction = module[without_copies(module, id)];
  return is_tuple_element(instruction) && without_copies(module, instruction.operands[0]) == state
             ? instruction.find(AttrKey::kIndex)->integer()
             : -1;
}

/// All of the state, or one element of it, goes from an iteration to the next as it is.
bool is_kept(const Module& module, const Computation& body, int64_t element) {
  const InstructionId state = body.parameters[0];
  const InstructionId root = without_copies(module, body.root);
  if (root == state) return true;
  const Instruction& next = module[root];
  return element >= 0 && is_tuple(next) && element < static_cast<int64_t>(next.operands.size()) &&
         state_element(module, next.operands[static_cast<size_t>(element)], state) == element;
}

}  // namespace

const char* never_ends(LoopEnd end) {
  switch (end) {
    case LoopEnd::kNever:
      return "the loop never ends: its condition is always true";
    case LoopEnd::kAtFirstOnly:
      return "the loop never ends: its condition is true, and the body changes nothing that it depends on";
    case LoopEnd::kUnknown:
      break;
  }
  return nullptr;
}

LoopEnd loop_end(const Module& module, const OpTable& table, const Instruction& loop) {
  const Computation& condition = module[loop.find(AttrKey::kCondition)->computations()[0]];
  const Computation& body = module[loop.find(AttrKey::kBody)->computations()[0]];
  if (const Literal* answer = module[condition.root].literal; answer && !answer->elided)
    return integer_at(*answer, 0) != 0 ? LoopEnd::kNever : LoopEnd::kUnknown;
  const InstructionId state = condition.parameters[0];
  if (condition.root == state) return is_kept(module, body, -1) ? LoopEnd::kAtFirstOnly : LoopEnd::kUnknown;
  for (const InstructionId id : condition.instructions) {
    if (uses_device_state(module, table, module[id])) return LoopEnd::kUnknown;
    const int64_t element = state_element(module, id, state);
    const auto& operands = module[id].operands;
    const bool uses_state = std::find(operands.begin(), operands.end(), state) != operands.end();
    if (uses_state && !is_kept(module, body, element)) return LoopEnd::kUnknown;
  }
  return LoopEnd::kAtFirstOnly;
}

}  // namespace hlosim
