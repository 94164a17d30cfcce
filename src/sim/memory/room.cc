#include "memory/room.h"

namespace hlosim {

int64_t room_for_values(const DeviceConfig& device, const MemorySpace& space) {
  const bool is_vmem = &space == &device.vmem_space();
  return space.capacity->count() - (is_vmem ? device.vmem.scoped_limit.count() : 0);
}

}  // namespace hlosim
