// What is computed twice.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// Of instructions that compute the same from the same operands the first one stays. Calls, collectives,
/// custom calls and whatever has an effect or state are left alone.
void join_common_subexpressions(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
