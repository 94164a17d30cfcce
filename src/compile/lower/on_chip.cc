#include "lower/on_chip.h"

#include <algorithm>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "memory/room.h"

namespace hlosim {
namespace {

bool holds_values(const DeviceConfig& device, const MemorySpace& space) {
  return &space != &device.hbm() && space.scope != MemoryScope::kHost && space.capacity &&
         !space.numbers.empty() && (space.bandwidth || space.read || space.write);
}

}  // namespace

OnChip on_chip_memory(const DeviceConfig& device) {
  OnChip best;
  for (const MemorySpace& space : device.memory) {
    if (!holds_values(device, space)) continue;
    const int64_t capacity = space.capacity->count(), room = room_for_values(device, space);
    if (room > best.room()) best = {space.numbers[0], capacity, capacity - room};
  }
  return best;
}

int64_t room_in(const DeviceConfig& device, int64_t space) {
  return room_for_values(device, *device.memory_space(space));
}

int64_t vmem_room(const DeviceConfig& device) {
  const bool is_sized = device.vmem_space().capacity.has_value();
  return is_sized ? std::max<int64_t>(room_for_values(device, device.vmem_space()), 0) : 0;
}

int64_t bytes_in(ShapeRef shape, int64_t space) {
  int64_t bytes = 0;
  for_each_leaf(shape, [&](ShapeRef leaf) {
    if (leaf->is_array() && leaf->rank() > 0 && leaf->memory_space() == space)
      bytes += array_size(leaf).count();
  });
  return bytes;
}

std::map<ComputationId, int64_t> room_in_loops(const Module& module, int64_t space, int64_t room) {
  std::map<ComputationId, int64_t> rooms{{module.entry, room}};
  std::vector<ComputationId> callers_first = callees_first(module);
  std::reverse(callers_first.begin(), callers_first.end());
  for (const ComputationId id : callers_first) {
    const auto own = rooms.find(id);
    if (own == rooms.end()) continue;
    for (const InstructionId at : module[id].instructions) {
      const Attr* body = module[at].find(AttrKey::kBody);
      if (!body) continue;
      const int64_t left = own->second - bytes_in(module[at].shape, space);
      int64_t& least = rooms.try_emplace(body->computations()[0], left).first->second;
      least = std::min(least, left);
    }
  }
  return rooms;
}

bool is_on_chip(const DeviceConfig& device, int64_t space) {
  const MemorySpace* found = device.memory_space(space);
  return found && holds_values(device, *found);
}

}  // namespace hlosim
