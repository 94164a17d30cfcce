// Whether a product goes through its weights once.
//
//   if (is_read_once(bytes(module[dot].operands[1 - side]), bytes(dot), needs.vmem(device))) …
#pragma once

#include <cstdint>

#include "lower/room_needs.h"

namespace hlosim {

/// A product reads one operand, its weights, a single time where VMEM holds all else that it works on: the
/// `other` operand and the `result` (bytes), in `room` (RoomNeeds::vmem()). Then every block of the weights
/// meets all of the data while it is there. Else the weights come anew for each part of the data. Bytes are
/// those that the arrays have as far as a pass knows their layouts: before tiles are given, without these or
/// as they will be.
inline bool is_read_once(int64_t other, int64_t result, const Room& room) {
  return room.holds(other + result);
}

}  // namespace hlosim
