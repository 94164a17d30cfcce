// Loops that never end, as far as their text shows it: those whose condition is a constant, and those whose
// condition depends only on elements of the state that the body leaves unchanged.
//
//   loop_end(module, table, loop) == LoopEnd::kNever  // while(true)
//   never_ends(LoopEnd::kNever)       // "the loop never ends: its condition is always true"
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

enum class LoopEnd : uint8_t {
  kUnknown,
  kNever,        // the condition is always true
  kAtFirstOnly,  // the condition is the same in each iteration: the loop ends before the first one, or never
};

/// For an error where such a loop goes on; null for kUnknown.
const char* never_ends(LoopEnd end);

/// Requires: a while.
LoopEnd loop_end(const Module& module, const OpTable& table, const Instruction& loop);

}  // namespace hlosim
