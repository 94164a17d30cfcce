#include "model/memory_system.h"

#include <algorithm>

#include "base/check.h"

namespace hlosim {

MemorySystem::MemorySystem(const DeviceConfig& device) {
  HLOSIM_CHECK(device.memory.size() <= kMaxMemorySpaces, "{} memory spaces", device.memory.size());
  space_of_.fill(static_cast<uint8_t>(kUnknownSpace));
  unit_of_.fill(Unit::kNone);
  const Core core(device);
  for (size_t i = 0; i < device.memory.size(); ++i) {
    const MemorySpace& space = device.memory[i];
    for (const int64_t number : space.numbers)
      if (number >= 0 && number < 256) space_of_[static_cast<size_t>(number)] = static_cast<uint8_t>(i);
    rates_[i] = core.bus(space);
    unit_of_[i] = space.scope == MemoryScope::kHost ? Unit::kHost : memory_unit(i);
  }
  hbm_ = space_of(0);
  HLOSIM_CHECK(hbm_ != kUnknownSpace);
  for (size_t i = 0; i < device.memory.size(); ++i) on_chip_[i] = i != hbm_ && unit_of_[i] != Unit::kHost;
}

double MemorySystem::busy_exactly(size_t space, const Traffic& traffic) const {
  if (space == kUnknownSpace) return 0;
  return rates_[space].time(static_cast<double>(traffic.read.count()),
                            static_cast<double>(traffic.written.count()));
}

Picoseconds min_kernel_time(const Traffic& hbm, const Core& core) {
  const OverheadConfig& overhead = core.device().overhead;
  return hbm.read.count() > 0 ? overhead.smallest_fusion : overhead.smallest_write;
}

Picoseconds unloaded_latency_credit(const Traffic& hbm, const Core& core) {
  const Bytes loaded_from = core.device().overhead.loaded_memory, bytes = std::min(hbm.total(), loaded_from);
  const Picoseconds loaded =
      core.device().overhead.instruction + core.dma_latency(hbm.read.count() > 0, hbm.written.count() > 0);
  const Picoseconds least = min_kernel_time(hbm, core);
  if (loaded <= least) return Picoseconds(0);
  const double idle = 1 - static_cast<double>(bytes.count()) / static_cast<double>(loaded_from.count());
  return ceil_picoseconds(static_cast<double>((loaded - least).count()) * idle);
}

}  // namespace hlosim
