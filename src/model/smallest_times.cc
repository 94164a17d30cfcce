#include "model/smallest_times.h"

#include <algorithm>

namespace hlosim {
namespace {

constexpr Bytes kLoaded{int64_t{1} << 20};

}  // namespace

Picoseconds least_time(const Traffic& hbm, const OverheadConfig& overhead) {
  return hbm.read.count() > 0 ? overhead.smallest_fusion : overhead.smallest_write;
}

Picoseconds idle_gain(const Traffic& hbm, const DeviceConfig& device) {
  const Bytes bytes = std::min(hbm.total(), kLoaded);
  Picoseconds loaded = device.overhead.instruction;
  if (hbm.read.count() > 0) loaded += device.dma.read_latency;
  if (hbm.written.count() > 0) loaded += device.dma.write_latency;
  const Picoseconds least = least_time(hbm, device.overhead);
  if (loaded <= least) return Picoseconds(0);
  const double idle = 1 - static_cast<double>(bytes.count()) / static_cast<double>(kLoaded.count());
  return ceil_picoseconds(static_cast<double>((loaded - least).count()) * idle);
}

}  // namespace hlosim
