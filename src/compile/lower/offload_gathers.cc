#include "lower/offload_gathers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "hlo/graph.h"
#include "interconnect/offload.h"
#include "lower/async_pair.h"

namespace hlosim {
namespace {

void run_on(ModuleEditor& editor, ComputationId id, const DeviceConfig& device) {
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
    for (const InstructionId operand : module[at].operands)
      if (open.erase(operand) > 0) list.push_back(operand);
    list.push_back(at);
  }
  if (list.size() != before.size()) module.computations[id].instructions = std::move(list);
}

}  // namespace

void offload_gathers(ModuleEditor& editor, const DeviceConfig& device) {
  if (!OffloadCore::of(device)) return;
  for (const ComputationId id : callees_first(editor.module()))
    if (editor.module()[id].execution_thread == "main") run_on(editor, id, device);
}

}  // namespace hlosim
