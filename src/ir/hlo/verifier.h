// Checks that a module is what HLO allows: structure (names, roots, parameters, called
// computations, schedule, async chains, aliasing) and, by each opcode's rules, that every declared
// shape is the inferred one.
#pragma once

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Computations that call each other, from the entry to the innermost: no option raises it. XLA follows them
/// by calls of its own functions as well.
inline constexpr int32_t kMostNested = 1000;

/// Adds every fault of `module` to `diagnostics`; true when there is none. A program for more devices, or
/// with arrays of more dimensions, than `limits` allow is one.
bool verify(Module& module, const OpTable& table, DiagnosticList& diagnostics, const Limits& limits = {});

}  // namespace hlosim
