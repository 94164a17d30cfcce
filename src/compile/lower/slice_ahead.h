// Slices that a loop takes come onto the chip one iteration ahead.
#pragma once

#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// A dynamic-slice in a loop's body of an array that the loop hands on as it is, at a place that the loop's
/// numbers say, becomes a value that the loop carries in on-chip memory: the first slice is taken before the
/// loop, each iteration begins with fetching the next one and ends with putting it where the last one was.
/// Slices are clamped, so the last iteration may fetch one that isn't used. Where there is room for two of
/// each: up to half of what on-chip memory holds beside the scratch of one instruction. Requires: every array
/// has a layout; nothing is fused.
void slice_ahead(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, RoomNeeds& needs);

}  // namespace hlosim
