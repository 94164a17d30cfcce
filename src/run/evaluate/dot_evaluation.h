// Running dot, ragged-dot and scaled-dot.
#pragma once

#include "evaluate/dot_plan.h"
#include "evaluate/evaluate.h"

namespace hlosim {

DotOperand dot_operand(ShapeRef shape);

Evaluation evaluate_dot(EvaluateContext& op);
Evaluation evaluate_ragged_dot(EvaluateContext& op);
Evaluation evaluate_scaled_dot(EvaluateContext& op);

}  // namespace hlosim
