#include "lower/sink_allocations.h"

#include <map>
#include <vector>

#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

/// A call that nothing has to precede.
bool only_allocates(const Instruction& instruction) {
  return instruction.operands.empty() && instruction.find(AttrKey::kControlPredecessors) == nullptr &&
         custom_call_target(instruction) == "AllocateBuffer";
}

/// Instructions of the order that this one needs.
std::vector<InstructionId> needed_by(const Instruction& instruction) {
  std::vector<InstructionId> needed(instruction.operands.begin(), instruction.operands.end());
  if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
    needed.insert(needed.end(), before->instructions().begin(), before->instructions().end());
  return needed;
}

void sink_in(const Module& module, Computation& computation) {
  std::map<InstructionId, InstructionId> first_user;  // of allocations; themselves: none
  for (const InstructionId id : computation.instructions)
    if (only_allocates(module[id])) first_user.emplace(id, id);
  if (first_user.empty()) return;
  std::map<InstructionId, std::vector<InstructionId>> allocated_for;
  for (const InstructionId user : computation.instructions)
    for (const InstructionId id : needed_by(module[user])) {
      const auto allocation = first_user.find(id);
      if (allocation == first_user.end() || allocation->second != id) continue;
      allocation->second = user;
      allocated_for[user].push_back(id);
    }
  std::vector<InstructionId> order;
  for (const InstructionId id : computation.instructions) {
    if (const auto wanted = allocated_for.find(id); wanted != allocated_for.end())
      order.insert(order.end(), wanted->second.begin(), wanted->second.end());
    const auto allocation = first_user.find(id);
    if (allocation == first_user.end() || allocation->second == id) order.push_back(id);
  }
  computation.instructions = std::move(order);
}

}  // namespace

void sink_allocations(Module& module) {
  for (Computation& computation : module.computations) sink_in(module, computation);
}

}  // namespace hlosim
