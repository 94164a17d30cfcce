#include "memory/module_memory.h"

#include "ops/op_table.h"

namespace hlosim {

ModuleMemory::ModuleMemory(const Module& module, GraphReach reach)
    : graph(module, {}, reach),
      places(module),
      users(module),
      overwrites(module, op_table(), users, SharingRules::kDefault),
      found_(Values::find(graph, places, Era::k2026)) {
  if (found_) aliased_.emplace(graph, places, *found_, Era::k2026);
}

}  // namespace hlosim
