#include "hlo/effects.h"

#include <vector>

namespace hlosim {
namespace {

bool acts_itself(const OpTable& table, const Instruction& instruction) {
  const Attr* said = instruction.find(AttrKey::kCustomCallHasSideEffect);
  return table[instruction.opcode].has(kSideEffect) || (said && said->flag());
}

bool uses_itself(const OpTable& table, const Instruction& instruction) {
  if (instruction.opcode == Opcode::kRng || acts_itself(table, instruction)) return true;
  const Attr* target = instruction.find(AttrKey::kCustomCallTarget);
  return target && target->text().find("GetRngSeed") != std::string_view::npos;
}

/// `test(instruction)` holds for it or for something in a computation that it calls.
template <class F>
bool holds_inside(const Module& module, const Instruction& instruction, F&& test) {
  if (test(instruction)) return true;
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
      if (test(module[id])) return true;
      add_called(module[id]);
    }
  }
  return false;
}

}  // namespace

bool uses_device_state(const Module& module, const OpTable& table, const Instruction& instruction) {
  return holds_inside(module, instruction,
                      [&](const Instruction& inside) { return uses_itself(table, inside); });
}

bool has_effect(const Module& module, const OpTable& table, const Instruction& instruction) {
  return holds_inside(module, instruction,
                      [&](const Instruction& inside) { return acts_itself(table, inside); });
}

}  // namespace hlosim
