// Running convolution.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// Operands are converted to the result's type first where that loses something; floats of 16 bits and less
/// are summed in f32 and rounded once; integers are summed in 64 bits and saturate.
Evaluation evaluate_convolution(EvaluateContext& op);

}  // namespace hlosim
