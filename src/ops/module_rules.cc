#include "ops/module_rules.h"

#include <unordered_map>

#include "ops/infer.h"

namespace hlosim {

bool check_module_rules(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const size_t before = diagnostics.error_count();
  check_async_chains(module, table, diagnostics);
  check_channels(module, table, diagnostics);
  check_constrained_layouts(module, table, diagnostics);
  check_buffers(module, table, diagnostics);
  return diagnostics.error_count() == before;
}

/// A channel belongs to one opcode, or to sends and receives.
static void check_channel_opcodes(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  std::unordered_map<int64_t, const Instruction*> users;
  for (const Instruction& instruction : module.instructions) {
    const Attr* channel = instruction.find(AttrKey::kChannelId);
    if (!channel) continue;
    const Instruction& first = *users.try_emplace(channel->integer(), &instruction).first->second;
    const bool transfers = table[instruction.opcode].has(kHostTransfer);
    if (first.opcode == instruction.opcode || (transfers && table[first.opcode].has(kHostTransfer))) continue;
    OpContext op(module, instruction, table, &diagnostics);
    op.error(0, "channel {} of {} is also that of {} ({})", channel->integer(), instruction.name, first.name,
             to_text(first.opcode));
  }
}

void check_constrained_layouts(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const Instruction* first = nullptr;
  const auto constrained = [](const Instruction& instruction) {
    const Attr* attr = instruction.find(AttrKey::kConstrainLayout);
    return attr && attr->flag();
  };
  for (const Instruction& instruction : module.instructions) {
    if (instruction.opcode != Opcode::kAllReduce && instruction.opcode != Opcode::kAllReduceStart) continue;
    if (!first) first = &instruction;
    if (constrained(*first) == constrained(instruction)) continue;
    OpContext op(module, instruction, table, &diagnostics);
    op.error(0, "{} has constrain_layout={}, {} has {}; expected all all-reduces of a module to agree",
             instruction.name, constrained(instruction), first->name, constrained(*first));
    return;
  }
}

/// Sends (receives) to and from the host on one channel are one transfer written down several times.
void check_channels(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  check_channel_opcodes(module, table, diagnostics);
  std::unordered_map<int64_t, const Instruction*> seen[2];
  for (const Instruction& instruction : module.instructions) {
    const bool sends = instruction.opcode == Opcode::kSend;
    if (!sends && instruction.opcode != Opcode::kRecv) continue;
    const Attr* channel = instruction.find(AttrKey::kChannelId);
    const Attr* host = instruction.find(AttrKey::kIsHostTransfer);
    if (!channel || !host || !host->flag()) continue;
    const auto [first, is_new] = seen[sends].try_emplace(channel->integer(), &instruction);
    if (is_new || compatible(first->second->shape, instruction.shape)) continue;
    OpContext op(module, instruction, table, &diagnostics);
    op.error(0, "host transfers on channel {} must be the same: {} moves {}, {} moves {}", channel->integer(),
             first->second->name, text_of(first->second->shape), instruction.name, text_of(instruction.shape));
  }
}

}  // namespace hlosim
