#include "lower/standard_memories.h"

#include <fmt/format.h>

#include <bit>

#include "lower/on_chip.h"

namespace hlosim {
namespace {

/// Capacities, the largest first. The last one leaves no room for values, unless it is the only one.
std::vector<int64_t> standard_sizes(const DeviceConfig& device, const MemorySpace& space) {
  const int64_t capacity = space.capacity->count(), scratch = capacity - room_in(device, space.numbers[0]);
  const int64_t least = device.vmem.least_size.count(), kept_back = device.vmem.kept_back.count();
  std::vector<int64_t> sizes;
  if (capacity + kept_back < least) return {capacity};
  auto size =
      least * static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>((capacity + kept_back) / least)));
  for (; size >= least && size - kept_back > scratch; size /= 2) sizes.push_back(size - kept_back);
  sizes.push_back(scratch);
  return sizes;
}

bool holds_values(const DeviceConfig& device, const MemorySpace& space) {
  return !space.numbers.empty() && is_on_chip(device, space.numbers[0]);
}

}  // namespace

// A device is large: it has the source of every value. It is copied once for each size.
std::vector<Device> standard_memories(const Device& device) {
  std::vector<Device> found(1, device);
  for (size_t i = 0; i < device.config.memory.size(); ++i) {
    const MemorySpace& space = device.config.memory[i];
    if (!holds_values(device.config, space)) continue;
    const std::vector<int64_t> sizes = standard_sizes(device.config, space);
    std::vector<Device> with_sizes;
    with_sizes.reserve(found.size() * sizes.size());
    for (Device& one : found)
      for (const int64_t& size : sizes) {
        const bool is_last = &size == &sizes.back();
        with_sizes.push_back(is_last ? std::move(one) : one);
        with_sizes.back().config.memory[i].capacity = Bytes(size);
      }
    found = std::move(with_sizes);
  }
  return found;
}

std::optional<std::string> unused_on_chip(const Device& device) {
  for (const MemorySpace& space : device.config.memory) {
    if (!holds_values(device.config, space) || room_in(device.config, space.numbers[0]) <= 0) continue;
    const Bytes used(standard_sizes(device.config, space)[0]);
    if (*space.capacity - used > device.config.vmem.kept_back)
      return fmt::format(
          "values take no more than {} of the {} of {}: lowering knows doubles of {} (vmem.least_size)",
          to_text(used), to_text(*space.capacity), space.name, to_text(device.config.vmem.least_size));
  }
  return std::nullopt;
}

}  // namespace hlosim
