// Collectives among the devices of a run.
#pragma once

#include "evaluate/devices/joint.h"

namespace hlosim {

/// all-reduce, all-gather, reduce-scatter, all-to-all, collective-broadcast, and their starts. Members count
/// in the order of the text. Sums are folded in that order, from the left, in the element type; every member
/// gets the same bits.
JointEvaluation evaluate_among(EvaluateContext& op);

/// Each row of an operand goes where its sender says; the receiver's own sizes are redundant and not read.
JointEvaluation evaluate_ragged_among(EvaluateContext& op);

/// collective-permute(-start). Who is no target gets zeros, or keeps its output in the form that is in place.
/// There the sender's offsets count, and when a device is the source of several pairs, its k-th pair takes
/// the k-th slice of each buffer. `first_result`: the result leaf that takes operand leaf 0.
JointEvaluation evaluate_permute_among(EvaluateContext& op);
JointEvaluation evaluate_permute_start_among(EvaluateContext& op);

}  // namespace hlosim
