// Running traffic with the host and from the device to itself.
//
// A transfer that isn't one with the host leads from device to device, as the frontend attribute
// `_xla_send_recv_source_target_pairs` says, or to the other end of the channel. A device that is
// alone can send to itself only: what a send puts under way, the recv-done of the same channel takes, in
// order. Where no device sends, zeros arrive.
#pragma once

#include <vector>

#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_infeed(EvaluateContext& op);
Evaluation evaluate_outfeed(EvaluateContext& op);
Evaluation evaluate_send(EvaluateContext& op);
/// To the devices that _xla_send_recv_source_target_pairs names; null where it names none.
JointEvaluation evaluate_send_jointly(EvaluateContext& op);
Evaluation evaluate_recv(EvaluateContext& op);
Evaluation evaluate_recv_done(EvaluateContext& op);

}  // namespace hlosim
