// Gives the arrays of a module that carries no tiled layouts those that the device's compiler would.
#pragma once

#include "hlo/module.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// Some array of the module has tiles, or was given some.
bool carries_tiles(const Module& module);

/// Where no array of the module has tiles, every one gets the native tiling of `device`
/// (layout/native_tiling.h), and `assumptions` says so. Otherwise nothing changes.
void give_native_layouts(Module& module, const DeviceConfig& device, AssumptionList& assumptions);

}  // namespace hlosim
