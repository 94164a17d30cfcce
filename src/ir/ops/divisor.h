// Divisors that repeat few values: their reciprocals are made once.
//
//   if (const ShapeRef few = repeated_divisor(module, division)) …    // f32[5] of x / broadcast(f32[5])
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// The values that the divisor of an instruction repeats, in whatever type; null: it is no division of arrays
/// of floats, or its divisor is no broadcast. The only thing about operands but their shapes that the work of
/// an instruction outside of fusions depends on.
ShapeRef repeated_divisor(const Module& module, const Instruction& instruction);

}  // namespace hlosim
