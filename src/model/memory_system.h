// The memory spaces of a device as costs number them, and how long their ports take for some traffic.
//
//   const MemorySystem memory(device.config);
//   const size_t vmem = memory.space_of(1);            // S(1)
//   memory.busy(vmem, {.read = Bytes(4096)})           // how long reading 4096 bytes keeps its port busy
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "model/core.h"
#include "model/device.h"
#include "model/instruction_cost.h"

namespace hlosim {

/// Requires: at most kMaxMemorySpaces spaces.
class MemorySystem {
 public:
  explicit MemorySystem(const DeviceConfig& device);

  /// Place of S(number) in a SpaceTraffic; kUnknownSpace when the device doesn't have it.
  size_t space_of(int64_t number) const {
    return number >= 0 && number < 256 ? space_of_[static_cast<size_t>(number)] : kUnknownSpace;
  }
  size_t hbm() const { return hbm_; }
  /// The unit that traffic of the space keeps busy: kHost for the host's memory.
  Unit unit_of(size_t space) const { return unit_of_[space]; }
  bool on_chip(size_t space) const { return on_chip_[space]; }
  bool on_host(size_t space) const { return space != kUnknownSpace && unit_of_[space] == Unit::kHost; }

  /// Time of the space's ports: the longest of reads, writes and both together. HBM has one bus, reached by
  /// DMA: what is read and written by turns goes at the rate of both together, the rest at its own.
  Picoseconds busy(size_t space, const Traffic& traffic) const {
    return space == kUnknownSpace ? Picoseconds(0) : ceil_picoseconds(busy_exactly(space, traffic));
  }
  /// Of the whole device.
  const BusRate& rates(size_t space) const { return rates_[space]; }
  double busy_exactly(size_t space, const Traffic& traffic) const;  // in fractions of a picosecond

 private:
  std::array<uint8_t, 256> space_of_{};
  std::array<BusRate, kMaxMemorySpaces> rates_{};
  std::array<Unit, kMaxMemorySpaces + 1> unit_of_{};
  std::array<bool, kMaxMemorySpaces + 1> on_chip_{};
  size_t hbm_ = 0;
};

/// Least time of an instruction with such traffic with HBM: the latencies of a memory without other work.
Picoseconds min_kernel_time(const Traffic& hbm, const Core& core);

/// What a transfer of so many bytes is faster than the latencies of a loaded memory (dma.read_latency,
/// dma.write_latency) and the start of an instruction say: they come in with the bytes that are under way, in
/// proportion up to overhead.loaded_memory.
Picoseconds unloaded_latency_credit(const Traffic& hbm, const Core& core);

}  // namespace hlosim
