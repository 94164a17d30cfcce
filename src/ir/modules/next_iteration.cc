#include "modules/next_iteration.h"

#include <algorithm>

namespace hlosim {

bool NextIteration::is_element_of(InstructionId id, InstructionId tuple) const {
  return is_tuple_element(module_[id]) && module_[id].operands[0] == tuple;
}

InstructionId NextIteration::next_of(InstructionId element) const {
  return module_[loop_.last].operands[static_cast<size_t>(module_[element].find(AttrKey::kIndex)->integer())];
}

bool NextIteration::follows(std::span<const InstructionId> numbers) const {
  bool moves = false;
  for (const InstructionId number : numbers) {
    int budget = 16;
    if (!can_follow(number, moves, budget)) return false;
  }
  return moves;
}

bool NextIteration::can_follow(InstructionId id, bool& moves, int& budget) const {
  const Instruction& instruction = module_[id];
  if (!instruction.shape->is_scalar() || instruction.find(AttrKey::kControlPredecessors) || --budget < 0)
    return false;
  if (instruction.literal) return true;
  if (is_element_of(id, loop_.parameter)) {
    moves |= next_of(id) != id;
    return true;
  }
  const OpDef& def = table_[instruction.opcode];
  return def.has(kElementwise) && !def.has(kSideEffect) &&
         std::ranges::all_of(instruction.operands,
                             [&](InstructionId operand) { return can_follow(operand, moves, budget); });
}

InstructionId NextIteration::rebuilt(InstructionId id, ComputationId in,
                                     std::map<InstructionId, InstructionId>& replaced,
                                     std::vector<InstructionId>& list) {
  if (const auto found = replaced.find(id); found != replaced.end()) return found->second;
  const Instruction original = module_[id];
  std::vector<InstructionId> operands;
  for (const InstructionId operand : original.operands)
    operands.push_back(rebuilt(operand, in, replaced, list));
  const InstructionId copy =
      editor_.add(in, original.opcode, "ahead", original.shape, operands, original.attrs);
  module_.instructions[copy].literal = original.literal;
  editor_.place_like(copy, original);
  list.push_back(copy);
  return replaced[id] = copy;
}

/// Elements of the loop's state before the first iteration, and in the next one.
void NextIteration::find_elements(std::vector<InstructionId>& before) {
  if (found_) return;
  found_ = true;
  const InstructionId init = module_[loop_.id].operands[0];
  for (const InstructionId id : std::vector(module_[loop_.body].instructions)) {
    if (!is_element_of(id, loop_.parameter)) continue;
    next_[id] = next_of(id);
    const auto index = static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
    if (is_tuple(module_[init])) {
      first_[id] = module_[init].operands[index];
      continue;
    }
    const InstructionId from[] = {init};
    first_[id] = editor_.add(loop_.outside, Opcode::kGetTupleElement, "first", module_[id].shape, from,
                             module_[id].attrs);
    before.push_back(first_[id]);
  }
}

std::vector<InstructionId> NextIteration::at_start(std::span<const InstructionId> operands,
                                                   std::vector<InstructionId>& before) {
  find_elements(before);
  std::vector<InstructionId> made;
  for (const InstructionId operand : std::vector(operands.begin(), operands.end()))
    made.push_back(rebuilt(operand, loop_.outside, first_, before));
  return made;
}

std::vector<InstructionId> NextIteration::in_next(std::span<const InstructionId> operands,
                                                  std::vector<InstructionId>& list) {
  std::vector<InstructionId> made;
  for (const InstructionId operand : std::vector(operands.begin(), operands.end()))
    made.push_back(rebuilt(operand, loop_.body, next_, list));
  return made;
}

}  // namespace hlosim
