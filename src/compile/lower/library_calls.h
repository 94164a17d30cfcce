// Calls of GPU and CPU libraries.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// Custom calls that are known to be plain instructions become these
/// (ops/custom_calls/custom_call_targets.h).
void spell_out_library_calls(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
