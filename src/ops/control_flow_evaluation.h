// Running while, conditional and calls.
#pragma once

#include "ops/evaluate.h"

namespace hlosim {

/// The computation called with the operands; for calls that are not opened into their caller.
Evaluation evaluate_call(EvaluateContext& op);
/// Condition first. Loops over scalars alone run as two lists of kernels without any call.
Evaluation evaluate_while(EvaluateContext& op);
/// pred: branch 0 when true; s32: branch i, the last one when i is out of range.
Evaluation evaluate_conditional(EvaluateContext& op, std::vector<ComputationId> branches);

}  // namespace hlosim
