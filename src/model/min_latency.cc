#include "model/min_latency.h"

#include <algorithm>

namespace hlosim {
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
