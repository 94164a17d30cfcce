// Running gather and scatter.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_gather(EvaluateContext& op);
Evaluation evaluate_scatter(EvaluateContext& op);

}  // namespace hlosim
