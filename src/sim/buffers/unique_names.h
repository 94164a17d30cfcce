// Instruction names as XLA gives them when it reads a module: each once in the whole module.
#pragma once

#include <string>

#include "memory/module_graph.h"

namespace hlosim {

/// Computation by computation, a name that is taken gets the next free number: `p0`, `p0.1`, `p0.2`.
IdMap<InstructionId, std::string> unique_names(const ModuleGraph& graph);

}  // namespace hlosim
