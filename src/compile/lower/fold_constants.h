// What is known before the module runs.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// Instructions on constants become constants, computed as `hlosim run` does: scalars, and arrays of up to
/// 1024 elements. Elementwise work on one number everywhere becomes that number's work, everywhere. What
/// can't be evaluated stays.
void fold_constants(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
