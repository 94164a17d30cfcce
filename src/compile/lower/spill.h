// Spills: values go back from on-chip memory to HBM until what is alive at the same time fits.
//
//   if (spill_overflow(module, table, device.config) > 0) module = compacted(std::move(module), table);
#pragma once

#include <cstdint>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "lower/room_needs.h"
#include "model/device.h"

namespace hlosim {

/// The live ranges are those of the report (memory/occupancy.h), over the order in which the module runs; the
/// room is that of placement (room_in() in lower/on_chip.h). At each step that has too little of it those go
/// that save least traffic for the bytes that are missing. A copy that then changes nothing any more goes as
/// well, unless what it copies is overwritten while the copy is needed. Returns how many values were moved;
/// what was taken out is still there, unlisted. Post: each on-chip space has room for what is alive in it, as
/// far as that is neither an argument nor a result. Requires: fusions were placed as place_values() does.
/// `needs`, if given, notes the most that was alive in each space.
int64_t spill_overflow(Module& module, const OpTable& table, const DeviceConfig& device,
                       RoomNeeds* needs = nullptr);

}  // namespace hlosim
