#include "lower/offload_gathers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "hlo/graph.h"
#include "interconnect/offload.h"
#include "layout/sizes.h"
#include "lower/async_pair.h"

namespace hlosim {
namespace {

/// Of a gather that isn't offloaded: VMEM that is smaller than its table would have it so.
void needs_table(const Module& module, InstructionId gather, const DeviceConfig& device, RoomNeeds& needs) {
  if (module[gather].opcode != Opcode::kGather || !device.vmem_space().capacity) return;
  const ShapeRef table = module[module[gather].operands[0]].shape;
  if (!table->is_array() || table->is_unbounded()) return;
  const Bytes scratch = *device.vmem_space().capacity - Bytes(room_in(device, kVmemSpace));
  needs.needs(kVmemSpace, (array_size(table) - scratch).count());
}

void run_on(ModuleEditor& editor, ComputationId id, const DeviceConfig& device, RoomNeeds& needs) {
  Module& module = editor.module();
  const std::vector<InstructionId> before = module[id].instructions;
  std::map<InstructionId, InstructionId> open;  // dones of what has started
  std::vector<InstructionId> list;
  for (const InstructionId at : before) {
    if (at != module[id].root && offloads_gather(module, at, device)) {
      const auto [start, done] = async_pair(editor, id,
                                            {.what = at,
                                             .name = "gather",
                                             .start = "gather-offload-start",
                                             .done = "gather-offload-done",
                                             .thread = std::string(offload_thread())});
      editor.replace_everywhere(id, at, done);
      list.push_back(start);
      open[done] = start;
      continue;
    }
    needs_table(module, at, device, needs);
    for (const InstructionId operand : module[at].operands)
      if (open.erase(operand) > 0) list.push_back(operand);
    list.push_back(at);
  }
  if (list.size() != before.size()) module.computations[id].instructions = std::move(list);
}

/// What the choices say of a kind of collectives.
struct Offload {
  Opcode opcode;
  bool CompilerChoices::*is_asked;
};
constexpr Offload kOffloads[] = {{Opcode::kAllGather, &CompilerChoices::offload_all_gathers},
                                 {Opcode::kAllReduce, &CompilerChoices::offload_all_reduces},
                                 {Opcode::kReduceScatter, &CompilerChoices::offload_reduce_scatters}};

}  // namespace

void mark_offloaded_collectives(ModuleEditor& editor, const DeviceConfig& device,
                                const CompilerChoices& choices) {
  if (!OffloadCore::of(device) || !device.ici.core_bandwidth) return;
  Module& module = editor.module();
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const bool is_asked = std::ranges::any_of(kOffloads, [&](const Offload& one) {
      return one.opcode == module[id].opcode && choices.*one.is_asked;
    });
    if (!is_asked || module[id].find(AttrKey::kFrontendAttributes)) continue;
    editor.set_attr(id, Attr::make_text(AttrKey::kFrontendAttributes, AttrSyntax::kFrontend,
                                        "{collective_offload=\"sparsecore\"}"));
  }
}

void offload_gathers(ModuleEditor& editor, const DeviceConfig& device, RoomNeeds& needs) {
  if (!OffloadCore::of(device)) return;
  for (const ComputationId id : callees_first(editor.module()))
    if (editor.module()[id].execution_thread == "main") run_on(editor, id, device, needs);
}

}  // namespace hlosim
