#include "ops/module_rules.h"

#include <unordered_map>

#include "ops/infer.h"

namespace hlosim {

bool check_module_rules(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const size_t before = diagnostics.error_count();
  check_async_chains(module, table, diagnostics);
  check_channels(module, table, diagnostics);
  check_buffers(module, table, diagnostics);
  return diagnostics.error_count() == before;
}

/// Sends (receives) to and from the host on one channel are one transfer written down several times.
void check_channels(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
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
