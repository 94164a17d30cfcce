// What a kernel needs in VMEM at once.
#pragma once

#include <cstdint>
#include <span>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"

namespace hlosim {

/// Bytes of one core's VMEM that a kernel can't do without, whatever its blocks: two windows of one tile each
/// of every array that comes or goes (all of a smaller one), blocks of products as small as the pipeline
/// model makes them with what is computed for them inside, and sums over other dimensions than those of the
/// largest sum. `members`: operands first. `outputs`: those of them that are stored.
int64_t least_working_set(Module& module, const OpTable& table, const DeviceConfig& device,
                          std::span<const InstructionId> members, std::span<const InstructionId> outputs);

/// What there is for it: vmem.scoped_limit without the compiler's own part. Forever on devices whose windows
/// have no size.
int64_t working_set_limit(const DeviceConfig& device);

}  // namespace hlosim
