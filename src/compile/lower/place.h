// Which values stay on the chip between the kernel that makes them and those that use them.
#pragma once

#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// Values that one kernel makes for others get the device's largest on-chip memory as their space where they
/// fit beside what lives there at the same time; in VMEM, what one instruction may use as scratch stays
/// free. So do the smallest of the values that loops carry; arguments and results stay in HBM. Values with
/// more users come first. What a loop carries and only takes slices of is read where it lies, unless
/// `takes_sliced`. Requires: arrays have tiles.
void place_values(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, bool takes_sliced,
                  RoomNeeds& needs);

}  // namespace hlosim
