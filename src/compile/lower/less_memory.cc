#include "lower/less_memory.h"

#include <algorithm>
#include <bit>

#include "lower/on_chip.h"

namespace hlosim {
namespace {

constexpr int64_t kLeastRoom = 1 << 20;

}  // namespace

std::vector<Device> with_less_on_chip(const Device& device) {
  const OnChip home = on_chip_memory(device.config);
  std::vector<Device> smaller;
  if (home.room() <= kLeastRoom) return smaller;
  const auto largest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(home.room() - 1)));
  for (int64_t room = largest; room >= kLeastRoom; room /= 2) {
    smaller.push_back(device);
    for (MemorySpace& space : smaller.back().config.memory)
      if (std::ranges::find(space.numbers, home.space) != space.numbers.end())
        space.capacity = Bytes(room + home.scratch);
  }
  return smaller;
}

}  // namespace hlosim
