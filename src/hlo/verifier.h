// Checks that a module is what HLO allows: structure (names, roots, parameters, called
// computations, schedule, async chains, aliasing) and, by each opcode's rules, that every declared
// shape is the inferred one.
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Adds every fault of `module` to `diagnostics`; true when there is none.
bool verify(Module& module, const OpTable& table, DiagnosticList& diagnostics);

}  // namespace hlosim
