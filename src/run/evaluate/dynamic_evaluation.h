// Running the operations whose places or sizes are operands.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_dynamic_slice(EvaluateContext& op);
Evaluation evaluate_dynamic_update_slice(EvaluateContext& op);
Evaluation evaluate_get_dimension_size(EvaluateContext& op);
/// Sizes outside of 0 … bound are held there.
Evaluation evaluate_set_dimension_size(EvaluateContext& op);
/// The elements in the order of the bounds; the sizes are what the operands say.
Evaluation evaluate_dynamic_reshape(EvaluateContext& op);

}  // namespace hlosim
