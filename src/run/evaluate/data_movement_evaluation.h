// Running the operations that rearrange elements by amounts that the text fixes.
#pragma once

#include "evaluate/evaluate.h"

namespace hlosim {

/// A copy of a tuple: its leaves. A copy to another type of float: converted.
Evaluation evaluate_copy(EvaluateContext& op);
/// As the view says, with the elements converted to another type of float.
Evaluation evaluate_converted(EvaluateContext& op);
/// A bitcast that reads other bytes than the element's own, through the places of both layouts.
Evaluation evaluate_bitcast(EvaluateContext& op);
Evaluation evaluate_bitcast_convert(EvaluateContext& op);
Evaluation evaluate_concatenate(EvaluateContext& op);
/// The operands side by side along a dimension. Requires: they agree in all others, as the result does.
Evaluation evaluate_joined(EvaluateContext& op, int64_t dimension);
Evaluation evaluate_iota(EvaluateContext& op);
/// The dimension along which an iota counts; -1: `op` is none.
int64_t counted_dimension(const OpContext& op);
/// Numbers from 0 on, as an iota of one dimension, into the result of the node. Null where `type` can't hold
/// them.
Evaluation count_evaluation(ElementType type, int64_t length);
Evaluation evaluate_pad(EvaluateContext& op);

}  // namespace hlosim
