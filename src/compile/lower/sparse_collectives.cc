#include "lower/sparse_collectives.h"

namespace hlosim {
namespace {

bool is_offloaded(Opcode opcode, const CompilerChoices& choices) {
  switch (opcode) {
    case Opcode::kAllGather:
      return choices.offload_all_gathers;
    case Opcode::kAllReduce:
      return choices.offload_all_reduces;
    case Opcode::kReduceScatter:
      return choices.offload_reduce_scatters;
    default:
      return false;
  }
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
