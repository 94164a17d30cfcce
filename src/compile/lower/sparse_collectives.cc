#include "lower/sparse_collectives.h"

namespace hlosim {
namespace {

bool is_offloaded(Opcode opcode, const CompilerChoices& choices) {
  return (opcode == Opcode::kAllGather && choices.offload_all_gathers) ||
         (opcode == Opcode::kAllReduce && choices.offload_all_reduces) ||
         (opcode == Opcode::kReduceScatter && choices.offload_reduce_scatters);
}

}  // namespace

void sparse_collectives(ModuleEditor& editor, const DeviceConfig& device, const CompilerChoices& choices) {
  if (!device.sparsecore || !device.ici.core_bandwidth) return;
  Module& module = editor.module();
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    if (!is_offloaded(module[id].opcode, choices) || module[id].find(AttrKey::kFrontendAttributes)) continue;
    editor.set_attr(id, Attr::make_text(AttrKey::kFrontendAttributes, AttrSyntax::kFrontend,
                                        "{collective_offload=\"sparsecore\"}"));
  }
}

}  // namespace hlosim
