// Which instructions become one kernel.
//
// A value is stored or recomputed. Stored are: what instructions that run on their own take and make, copies,
// and the results of reductions and products, or what elementwise work makes of those before anything else
// needs them. Everything between stored values is computed wherever it is used, if that reads no more than
// the value itself would. Around each stored value grows one fusion; reductions of what another fusion makes
// or reads join it. What needs more VMEM at once than there is (lower/working_set.h) is taken apart again.
#pragma once

#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// Fuses the computations that run as control flow; conditions of loops and arithmetic on scalars stay as
/// they are. Requires: every array has a layout.
void fuse(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, RoomNeeds& needs);

}  // namespace hlosim
