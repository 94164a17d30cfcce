#include "model/memory_system.h"

#include <algorithm>

#include "base/check.h"

namespace hlosim {

MemorySystem::MemorySystem(const DeviceConfig& device) {
  HLOSIM_CHECK(device.memory.size() <= kMaxMemorySpaces, "{} memory spaces", device.memory.size());
  space_of_.fill(static_cast<uint8_t>(kUnknownSpace));
  unit_of_.fill(Unit::kNone);
  for (size_t i = 0; i < device.memory.size(); ++i) {
    const MemorySpace& space = device.memory[i];
    for (const int64_t number : space.numbers)
      if (number >= 0 && number < 256) space_of_[static_cast<size_t>(number)] = static_cast<uint8_t>(i);
    const SpaceRates rates = device_rates(device, space);
    rates_[i] = {1e12 / rates.read.count(), 1e12 / rates.write.count(), 1e12 / rates.total.count()};
    unit_of_[i] = space.scope == MemoryScope::kHost ? Unit::kHost : memory_unit(i);
  }
  hbm_ = space_of(0);
  HLOSIM_CHECK(hbm_ != kUnknownSpace);
  const double dma = 1e12 / (device.dma.bandwidth.count() * static_cast<double>(device.cores));
  Rates& bus = rates_[hbm_];
  const double alone = bus.total;  // of the memory itself, no faster than that in either direction
  bus.total = std::max(bus.total, dma);
  bus.read = bus.read > 0 ? std::max(bus.read, alone) : bus.total;
  bus.write = bus.write > 0 ? std::max(bus.write, alone) : bus.total;
  bus.takes_turns = true;
  for (size_t i = 0; i < device.memory.size(); ++i) on_chip_[i] = i != hbm_ && unit_of_[i] != Unit::kHost;
}

double MemorySystem::Rates::time(double bytes_read, double bytes_written) const {
  if (!takes_turns)
    return std::max({bytes_read * read, bytes_written * write, (bytes_read + bytes_written) * total});
  const double both = std::min(bytes_read, bytes_written);
  return both * std::max(2 * total, read + write) + (bytes_read - both) * read +
         (bytes_written - both) * write;
}

double MemorySystem::busy_exactly(size_t space, const Traffic& traffic) const {
  if (space == kUnknownSpace) return 0;
  return rates_[space].time(static_cast<double>(traffic.read.count()),
                            static_cast<double>(traffic.written.count()));
}

}  // namespace hlosim
