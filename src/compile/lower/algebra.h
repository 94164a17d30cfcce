// Identities that need no numbers.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// All of these but x ^ 2 give the same bits:
///   transpose, reshape, convert, broadcast, slice, pad, concatenate, reverse, copy, dynamic-slice that
///   change nothing; transpose of transpose, broadcast of broadcast, reverse of the same reverse, -(-x),
///   not(not x), copy of copy; a value widened and narrowed back; max(x, x), min(x, x), x and x, x or x;
///   select(p, x, x); select with a constant predicate; x - x, x * 0 of integers; x ^ 1, x ^ 2;
///   x / 2^n as x * 2^-n; dynamic-slice at a constant place.
void apply_algebra(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
