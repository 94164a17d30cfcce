// From HLO as a front end writes it to roughly what a TPU compiler would run: simplified, with layouts, fused,
// and with values that stay on the chip. docs/lowering.md tells the rules.
//
//   Result<Module> lowered = lower(module, op_table(), device);
//
// The steps are passes (tune/pass.h), each of which rewrites a module into one that computes the same.
#pragma once

#include "tune/pass.h"

namespace hlosim {

/// No array has tiles and the module is not scheduled: no TPU compiler has touched it.
bool is_plain(const Module& module);

/// What the default passes make of it.
/// Requires: a verified module. Errors: none that a verified module can cause, unless this code is wrong.
Result<Module> lower(const Module& module, const OpTable& table, const Device& device);

}  // namespace hlosim
