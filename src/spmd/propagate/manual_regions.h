// Where a module is written for one device, along all axes or some: what instructions between the borders
// (custom calls SPMDFullToShardShape and SPMDShardToFullShape) work on.
#pragma once

#include <span>

#include "hlo/op_def.h"
#include "propagate/arrays.h"

namespace hlosim {

/// Does the module state that any array is manual?
bool has_manual_regions(const StatedTilings& stated);

/// Constants and the like have one user each where a computation has borders, so that none is used on both
/// sides of one.
void split_constants(Module& module, const OpTable& table);

/// All arrays that meet a manual one in an instruction are manual along the same axes, but those that state
/// something else. Error: an instruction between arrays that are manual along different axes.
Result<void> spread_manual(const Module& module, const OpTable& table,
                           std::span<const ComputationId> computations, Arrays& arrays);

}  // namespace hlosim
