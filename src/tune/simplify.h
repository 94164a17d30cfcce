// Algebra that decides how much memory traffic is left, before anything is fused.
#pragma once

#include "tune/edit.h"

namespace hlosim {

/// Drops what nothing needs; joins chains of reshapes and takes out those that change nothing; turns products
/// over several free dimensions into ones over one, and folds transposes into the products that use them.
/// Post: the module verifies and computes the same, bit for bit.
void simplify(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
