// Which parts of its result an instruction makes itself.
#pragma once

#include "memory/module_graph.h"
#include "memory/places.h"

namespace hlosim {

/// Is part `part` of the shape of `id` a value of its own, and not one that lies elsewhere already?
bool makes_value(const ModuleGraph& graph, const Places& places, InstructionId id, int32_t part);

}  // namespace hlosim
