// Checks that a module is what HLO allows: structure (names, roots, parameters, called
// computations, schedule, async chains, aliasing) and, by each opcode's rules, that every declared
// shape is the inferred one.
#pragma once

#include "base/limits.h"
#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Adds every fault of `module` to `diagnostics`; true when there is none. A program for more devices, or
/// with arrays of more dimensions, than `limits` allow is one.
bool verify(Module& module, const OpTable& table, DiagnosticList& diagnostics, const Limits& limits = {});

}  // namespace hlosim
