// The key of a device file whose rate limits the port of a memory space.
//
// HBM has several rates: its own bandwidth, those of one direction, and the bandwidth of the DMA engines in
// front of it. The slowest limits, and which it is depends on what is read and written.
//
//   PortLimits limits(device.config, memory.hbm());
//   limits.add({.read = Bytes(1 << 20), .written = Bytes(1 << 20)}, busy, executions);
//   limits.key()                                     // "dma.bandwidth"
#pragma once

#include <array>
#include <string>

#include "model/memory_system.h"

namespace hlosim {

class PortLimits {
 public:
  /// `space`: by its place in DeviceConfig::memory.
  PortLimits(const DeviceConfig& device, size_t space);

  /// Traffic that keeps the port busy for `busy`, that many times.
  void add(const Traffic& traffic, Picoseconds busy, int64_t executions);
  /// The key that limits most of the time, as in "memory.hbm.read"; empty: none, but latencies, short runs,
  /// or several keys at once.
  std::string key() const;

 private:
  enum Limit : size_t { kBandwidth, kDma, kRead, kWrite, kNoRate };

  const DeviceConfig& device_;
  const MemorySystem memory_;
  const size_t space_;
  Limit total_ = kBandwidth, read_ = kRead, write_ = kWrite;
  std::array<double, kNoRate + 1> times_{};  // by Limit
};

}  // namespace hlosim
