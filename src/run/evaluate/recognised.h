// Computations for which there is a faster way than applying them.
#pragma once

#include <optional>

#include "cpu_kernels/fold.h"
#include "evaluate/called_computation.h"

namespace hlosim {

/// The fold that a computation of two scalars is: add, multiply, maximum, minimum, and, or, xor.
std::optional<FoldOp> recognised_fold(const AppliedComputation& applied);

}  // namespace hlosim
