// Running dot, ragged-dot and scaled-dot.
#pragma once

#include "ops/dot_plan.h"
#include "ops/evaluate.h"

namespace hlosim {

/// The dimension numbers of dot-like attributes.
DotRoles dot_roles(const OpContext& op);
DotOperand dot_operand(ShapeRef shape);

Evaluation evaluate_dot(EvaluateContext& op);
Evaluation evaluate_ragged_dot(EvaluateContext& op);
Evaluation evaluate_scaled_dot(EvaluateContext& op);

}  // namespace hlosim
