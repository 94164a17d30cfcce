// Assigns on-chip memory to values from the kernel that produces them to those that use them.
#pragma once

#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// Values that kernels produce for other kernels move to the device's largest on-chip memory if they fit
/// beside the values that are alive there at the same time; values with more users come first. In VMEM, the
/// scratch memory of one instruction stays free. The smallest loop-carried values move there too. Arguments
/// and results stay in HBM, and so do loop-carried values of which the body reads slices only, unless
/// `takes_sliced`. Requires: arrays have tiles.
void place_values(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, bool takes_sliced,
                  RoomNeeds& needs);

}  // namespace hlosim
