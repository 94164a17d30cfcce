// Running the operations that apply a computation to elements, rows or slices of arrays.
#pragma once

#include "ops/evaluate.h"

namespace hlosim {

Evaluation evaluate_reduce(EvaluateContext& op);
Evaluation evaluate_map(EvaluateContext& op);
Evaluation evaluate_scan(EvaluateContext& op);

}  // namespace hlosim
