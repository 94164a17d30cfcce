// Arguments that come onto the chip while earlier kernels run.
#pragma once

#include "lower/room_needs.h"
#include "model/device.h"
#include "modules/edit.h"

namespace hlosim {

/// In the entry and in the bodies of loops: an argument (or what a loop carries) that a kernel reads from HBM
/// is copied to on-chip memory during kernels before it that leave HBM idle long enough, where it fits beside
/// what lives there then. A kernel for which another copy would begin while an earlier one has its own reads
/// that one. What several products read is copied once for all of them, whether or not that is hidden, and in
/// the entry the smallest operand of a product that reads operands again, where that is faster. A plan by
/// estimate, kernel by kernel, first come first served: whether it pays as a whole, the caller has to see.
/// The module becomes scheduled in the order of its text. Requires: the module verifies as it stands in the
/// text, arrays have tiles, place_values() ran.
void prefetch_arguments(ModuleEditor& editor, const OpTable& table, const Device& device, RoomNeeds& needs);

}  // namespace hlosim
