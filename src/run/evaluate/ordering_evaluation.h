// Running sort and top-k.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_sort(EvaluateContext& op);
Evaluation evaluate_topk(EvaluateContext& op);

}  // namespace hlosim
