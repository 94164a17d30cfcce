// Running reduce-window and select-and-scatter.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_reduce_window(EvaluateContext& op);
Evaluation evaluate_select_and_scatter(EvaluateContext& op);

}  // namespace hlosim
