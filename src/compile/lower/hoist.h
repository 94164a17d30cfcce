// What loops compute anew each time although it is always the same.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// Moves work on values that a loop hands on unchanged in front of the loop, which then carries the results.
/// Only out of loops that are known to run at least once and carry a tuple that is taken apart at once; only
/// what has no effect and no state, and makes no more elements than it reads. Work that notes something for
/// the compiler (frontend attributes) stays.
void hoist_invariants(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
