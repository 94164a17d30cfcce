// Running decompositions, solvers and transforms.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// In c128, whatever the element type.
Evaluation evaluate_fft(EvaluateContext& op);
/// The other triangle of the result is 0. A matrix that isn't positive definite gives NaN everywhere.
Evaluation evaluate_cholesky(EvaluateContext& op);
Evaluation evaluate_triangular_solve(EvaluateContext& op);

}  // namespace hlosim
