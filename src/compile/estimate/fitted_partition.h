// A module partitioned for a device: collectives move out of loops as far as its memory has room, and
// products become rings where that gains time there.
//
//   AssumptionList assumptions;
//   const Result<Partitioned> made =
//       partition_to_fit(module, op_table(), {.devices = 8}, &device, assumptions);
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "partition/partition.h"

namespace hlosim {

/// The room is what the device's memory has left beside the program without such collectives, with the
/// instructions in order and nothing fused; the assumptions state it. Null: no device is known, and no
/// collective moves. `options.hoist_bytes` and the rates of `options.windowed` don't count. Errors: of
/// partition().
Result<Partitioned> partition_to_fit(const Module& module, const OpTable& table, PartitionOptions options,
                                     const Device* device, AssumptionList& assumptions);

}  // namespace hlosim
