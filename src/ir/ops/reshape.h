// What a change of dimensions shuffles and moves.
#pragma once

#include "ops/work.h"

namespace hlosim {

/// Adds to `work` what it takes to store the elements of `operand`, in order, as `result`.
/// Requires: arrays of as many elements.
void add_reshape(ShapeRef operand, ShapeRef result, Work& work);

}  // namespace hlosim
