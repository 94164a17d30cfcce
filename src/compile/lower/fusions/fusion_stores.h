// Which values of a computation its fusions store, and which they compute again where they are used
// (docs/lowering.md, Fuse).
#pragma once

#include "lower/fusions/fusion_graph.h"
#include "lower/room_needs.h"

namespace hlosim {

/// Sets `stored`, `owner` and `is_lane_part` of all nodes. `vmem`: the VMEM available for the activations and
/// the result of a matmul, beside its weights.
void choose_stored(FusionGraph& graph, const DeviceConfig& device, const Room& vmem);

}  // namespace hlosim
