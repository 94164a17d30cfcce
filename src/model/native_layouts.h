// Gives the arrays of a module that carries no tiled layouts those that the device's compiler would.
#pragma once

#include "hlo/module.h"
#include "layout/native_tiling.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// Some array of the module has tiles, or was given some.
bool carries_tiles(const Module& module);

/// Bitcasts of a module without tiles that would no longer be what they are once every array had the native ones become
/// the reshapes and transposes that they stand for: these move something then. Those that can't be said so stay.
void spell_out_bitcasts_that_move(Module& module, const TilingPolicy& policy);

/// Where no array of the module has tiles, every one gets the native tiling of `device`
/// (layout/native_tiling.h), bitcasts that move something then are spelled out, and `assumptions` says so. Otherwise
/// nothing changes.
void give_native_layouts(Module& module, const DeviceConfig& device, AssumptionList& assumptions);

}  // namespace hlosim
