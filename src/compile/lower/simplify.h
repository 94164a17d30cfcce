// Algebra that decides how much memory traffic is left, before anything is fused.
#pragma once

#include "lower/room_needs.h"
#include "modules/edit.h"

namespace hlosim {

/// Drops what nothing needs and what adds 0 or multiplies by 1; joins chains of reshapes and takes out those
/// that change nothing; takes roundings out that are undone at once, as XLA does; rids products of dimensions
/// of size 1, and with that of several free dimensions per operand, but for weights that would have to be
/// copied for it and that a product goes through once, as `room` holds the rest; folds transposes into
/// the products that use them. Post: the module verifies and computes the same but for those roundings.
void simplify(ModuleEditor& editor, const OpTable& table, const Room& room = {});

}  // namespace hlosim
