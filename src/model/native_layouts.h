// Gives the arrays of a module that carries no tiled layouts those that the device's compiler would.
//
//   LaidOut laid_out = lay_out(module, device);          // `module` stays as it is
//   simulate(laid_out.module, op_table(), device);       // whatever laid_out.assumptions say was made up
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "layout/native_tiling.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// Some array of the module has tiles, or was given some.
bool carries_tiles(const Module& module);

/// In a module without tiles: bitcasts that would no longer be what they are once every array had the native
/// ones become the reshapes and transposes that they stand for, as these move something then. Those that
/// can't be said so stay. How many there were.
size_t spell_out_bitcasts_that_move(Module& module, const TilingPolicy& policy);

/// Errors: an array without tiles that the native ones of `device` make larger than 2^63 - 1 bytes; its
/// place.
Result<void> check_native_sizes(const Module& module, const Device& device);

struct LaidOut {
  Module module;
  AssumptionList assumptions;
};

/// The module with a layout for every array. Where no array has tiles, every one gets the native tiling of
/// `device` (layout/native_tiling.h), bitcasts that move something then are spelled out, and `assumptions`
/// says so. Ids are the same.
LaidOut lay_out(const Module& module, const Device& device);

}  // namespace hlosim
