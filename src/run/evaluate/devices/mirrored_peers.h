// Collectives of a device that runs alone, as if every other member of its group held the same values: its
// twins. An all-reduce over four devices adds the operand four times, an all-gather repeats it.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// For all collectives with groups but ragged-all-to-all. Reports and returns null where shapes and groups do
/// not fit together.
Evaluation evaluate_among_twins(EvaluateContext& op);

/// For collective-permute: the operand when some device sends to this one, else zeros. `first_result`: the
/// result leaf that takes operand leaf 0.
Evaluation permute_among_twins(EvaluateContext& op, size_t first_result);

}  // namespace hlosim
