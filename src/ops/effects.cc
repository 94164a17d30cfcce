#include "ops/effects.h"

#include <algorithm>
#include <vector>

namespace hlosim {
namespace {

bool uses_itself(const OpTable& table, const Instruction& instruction) {
  if (instruction.opcode == Opcode::kRng || table[instruction.opcode].has(kSideEffect | kHostTransfer)) return true;
  if (instruction.opcode != Opcode::kCustomCall) return false;
  const Attr* said = instruction.find(AttrKey::kCustomCallHasSideEffect);
  const Attr* target = instruction.find(AttrKey::kCustomCallTarget);
  return (said && said->flag()) || (target && target->text().find("GetRngSeed") != std::string_view::npos);
}

}  // namespace

bool uses_device_state(const Module& module, const OpTable& table, const Instruction& instruction) {
  if (uses_itself(table, instruction)) return true;
  std::vector<ComputationId> open;
  IdMap<ComputationId, uint8_t> seen;
  const auto add_called = [&](const Instruction& caller) {
    for_each_called(caller, [&](ComputationId called) {
      if (seen.empty()) seen = IdMap<ComputationId, uint8_t>(module.computations.size());
      if (!seen[called]) open.push_back(called);
      seen[called] = 1;
    });
  };
  add_called(instruction);
  while (!open.empty()) {
    const ComputationId at = open.back();
    open.pop_back();
    for (const InstructionId id : module[at].instructions) {
      if (uses_itself(table, module[id])) return true;
      add_called(module[id]);
    }
  }
  return false;
}

}  // namespace hlosim
