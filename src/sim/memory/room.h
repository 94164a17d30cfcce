// How much of a memory space values may take.
//
//   const int64_t room = room_for_values(device.config, *device.config.memory_space(kVmemSpace));
#pragma once

#include <cstdint>

#include "model/device.h"

namespace hlosim {

/// Bytes. For a memory of each core: those of one core, since all cores keep a value at the same addresses.
/// For VMEM: without the scratch of one instruction. Requires: the capacity is known.
int64_t room_for_values(const DeviceConfig& device, const MemorySpace& space);

}  // namespace hlosim
