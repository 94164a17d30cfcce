// The on-chip memory that values are kept in.
//
//   const OnChip chip = on_chip_memory(device.config);
//   if (chip.space >= 0 && array_size(shape).count() <= chip.room()) …
#pragma once

#include <cstdint>
#include <map>

#include "hlo/module.h"
#include "model/device.h"

namespace hlosim {

/// The on-chip space that holds most: VMEM, or CMEM where there is one.
struct OnChip {
  int64_t space = -1;    // S(n); -1: the device has none
  int64_t capacity = 0;  // bytes; of a core's memory those of one core
  int64_t scratch = 0;   // of it: what one instruction may use for itself (vmem.scoped_limit)
  int64_t room() const { return capacity - scratch; }
};
OnChip on_chip_memory(const DeviceConfig& device);

/// room_for_values() of an on-chip space. Requires: is_on_chip().
int64_t room_in(const DeviceConfig& device, int64_t space);

/// The same of VMEM, at least 0. Rules of what a product holds beside its weights use it, so that more memory
/// of another kind doesn't change them.
int64_t vmem_room(const DeviceConfig& device);

/// Bytes of the arrays inside that live in a space; scalars are no matter.
int64_t bytes_in(ShapeRef shape, int64_t space);

/// What is left of `room` for each body of a loop, inside the entry's loops, beside the tuples that these
/// carry in `space`. The body of several loops has the room of the one that leaves the least.
std::map<ComputationId, int64_t> room_in_loops(const Module& module, int64_t space, int64_t room);

/// Spaces with rates that are neither HBM nor the host's.
bool is_on_chip(const DeviceConfig& device, int64_t space);

}  // namespace hlosim
