// Instructions that can be run in principle, but not on this device, on this grid, without that handler.
#pragma once

#include <string>

#include "ops/evaluate.h"

namespace hlosim {

/// An error now when `op` would run for sure, being of the entry computation. Elsewhere, in a branch or a loop
/// body that may never be entered, an evaluation that ends the run with that error.
Evaluation refusal(EvaluateContext& op, std::string why);

}  // namespace hlosim
