// Running while, conditional and calls.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// The computation called with the operands; for calls that are not opened into their caller.
Evaluation evaluate_call(EvaluateContext& op);
/// Condition first. Loops over scalars alone run as two lists of kernels without any call.
Evaluation evaluate_while(EvaluateContext& op);
/// pred: branch 0 when true; s32: branch i, the last one when i is out of range.
Evaluation evaluate_conditional(EvaluateContext& op);

/// The same for several devices, where devices meet inside; else null. Devices that leave a loop wait for
/// those that stay; those that take branch 0 run before those that take branch 1.
JointEvaluation evaluate_call_jointly(EvaluateContext& op);
JointEvaluation evaluate_while_jointly(EvaluateContext& op);
JointEvaluation evaluate_conditional_jointly(EvaluateContext& op);

}  // namespace hlosim
