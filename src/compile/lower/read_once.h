// Whether a product goes through its weights once.
//
//   if (is_read_once(bytes(module[dot].operands[1 - side]), bytes(dot), vmem_room(device))) …
#pragma once

#include <cstdint>

namespace hlosim {

/// A product reads one operand, its weights, a single time where VMEM holds all else that it works on: the
/// `other` operand and the `result` (bytes), in `room` bytes (vmem_room()). Then every block of the weights
/// meets all of the data while it is there. Else the weights come anew for each part of the data. Bytes are
/// those that the arrays have as far as a pass knows their layouts: before tiles are given, without these or
/// as they will be.
constexpr bool is_read_once(int64_t other, int64_t result, int64_t room) { return other + result <= room; }

}  // namespace hlosim
