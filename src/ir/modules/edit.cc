#include "modules/edit.h"

#include <algorithm>

#include "ops/custom_calls/async_values.h"

namespace hlosim {

void mark_scheduled(Module& module) {
  std::vector<Attr> attrs{Attr::make_bool(AttrKey::kIsScheduled, true)};
  for (const Attr& attr : module.attrs)
    if (attr.key != AttrKey::kIsScheduled) attrs.push_back(attr);
  module.attrs = module.arena().copy(attrs);
}

void drop_header(Module& module, AttrKey key) {
  std::vector<Attr> attrs;
  for (const Attr& attr : module.attrs)
    if (attr.key != key) attrs.push_back(attr);
  module.attrs = module.arena().copy(attrs);
}

void drop_unreachable(Module& module) {
  if (module.computations.size() == 1) return;
  IdMap<ComputationId, ComputationId> now(module.computations.size());
  std::vector<ComputationId> open{module.entry};
  now[module.entry] = module.entry;
  while (!open.empty()) {
    const ComputationId id = open.back();
    open.pop_back();
    for (const InstructionId instruction : module[id].instructions)
      for_each_called(module[instruction], [&](ComputationId called) {
        if (!now[called].valid()) open.push_back(called);
        now[called] = called;
      });
  }
  IdMap<ComputationId, Computation> kept;
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    if (now[id].valid()) now[id] = kept.add(std::move(module.computations[id]));
  }
  const bool all = kept.size() == module.computations.size();
  module.computations = std::move(kept);
  if (all) return;
  module.entry = now[module.entry];
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      Instruction& instruction = module.instructions[id];
      instruction.parent = now[instruction.parent];
      std::vector<Attr> attrs(instruction.attrs.begin(), instruction.attrs.end());
      bool calls = false;
      for (Attr& attr : attrs) {
        if (!attr.holds_computations()) continue;
        calls = true;
        std::vector<ComputationId> called(attr.computations().begin(), attr.computations().end());
        for (ComputationId& one : called) one = now[one];
        const uint32_t offset = attr.offset;
        attr = Attr::make_list<ComputationId>(attr.key, attr.syntax, module.arena().copy(called));
        attr.offset = offset;
      }
      if (calls) instruction.attrs = module.arena().copy(attrs);
    }
}

namespace {

/// What stands for work that has begun and not ended: starts, updates, and what hands them on. Empty: there
/// is none.
IdMap<InstructionId, uint8_t> unfinished(const Module& module, const OpTable& table,
                                         const Computation& computation) {
  IdMap<InstructionId, uint8_t> result;
  for (const InstructionId id : computation.instructions) {
    const Instruction& instruction = module[id];
    const OpDef& def = table[instruction.opcode];
    const bool begins = def.has(kAsyncStart) || def.has(kAsyncUpdate);
    if (begins && result.empty()) result.resize(module.instructions.size());
    if (result.empty()) continue;
    const bool hands_on = passes_async_value(instruction) &&
                          std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                      [&](InstructionId operand) { return result[operand] != 0; });
    result[id] = begins || hands_on;
  }
  return result;
}

/// It runs whether or not anything takes its value.
bool runs_anyway(const Instruction& instruction, const OpDef& def) {
  if (def.has(kSideEffect) || def.has(kCollective)) return true;
  bool calls = false;
  if (def.has(kCallsInline)) for_each_called(instruction, [&](ComputationId) { calls = true; });
  return calls;
}

}  // namespace

std::vector<InstructionId> needed_instructions(const Module& module, const OpTable& table, ComputationId id) {
  const Computation& computation = module[id];
  IdMap<InstructionId, uint8_t> needed(module.instructions.size());
  needed[computation.root] = true;
  for (const InstructionId parameter : computation.parameters) needed[parameter] = true;
  bool begins = false;
  IdMap<InstructionId, uint8_t> is_unfinished;
  for (bool again = true; again;) {
    for (size_t i = computation.instructions.size(); i-- > 0;) {
      const InstructionId at = computation.instructions[i];
      const Instruction& instruction = module[at];
      const OpDef& def = table[instruction.opcode];
      begins = begins || def.has(kAsyncStart) || def.has(kAsyncUpdate);
      if (!needed[at] && !runs_anyway(instruction, def)) continue;
      needed[at] = true;
      for (const InstructionId operand : instruction.operands) needed[operand] = true;
      if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
        for (const InstructionId predecessor : before->instructions()) needed[predecessor] = true;
    }
    // What has begun has to end.
    again = false;
    if (!begins) break;
    if (is_unfinished.empty()) is_unfinished = unfinished(module, table, computation);
    for (const InstructionId at : computation.instructions) {
      if (needed[at]) continue;
      for (const InstructionId operand : module[at].operands)
        if (needed[operand] && is_unfinished[operand]) needed[at] = again = true;
    }
  }
  std::vector<InstructionId> kept;
  kept.reserve(computation.instructions.size());
  for (const InstructionId at : computation.instructions)
    if (needed[at]) kept.push_back(at);
  return kept;
}

}  // namespace hlosim
