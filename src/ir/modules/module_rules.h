// Rules that concern several instructions or computations at once, beyond the structure that
// hlo/verifier.h checks: async chains and their computations, channels, fused computations, buffers.
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Adds every broken rule; true when there is none. Requires: verify() found nothing wrong. O(instructions)
/// unless the module has asynchronous operations or buffers.
bool check_module_rules(Module& module, const OpTable& table, DiagnosticList& diagnostics);

}  // namespace hlosim
