#include "model/strided_access.h"

#include <algorithm>

#include "layout/window_runs.h"
#include "model/fusion_summary.h"
#include "model/memory_system.h"

namespace hlosim {
namespace {

/// A window in an array of as many dimensions, none longer.
bool is_window(ShapeRef part, ShapeRef whole) {
  if (!part->is_array() || !whole->is_array() || part->rank() != whole->rank() || part->rank() == 0)
    return false;
  if (part->element_type != whole->element_type || whole->is_unbounded() || part->is_unbounded())
    return false;
  return std::ranges::equal(part->dimensions, whole->dimensions,
                            [](int64_t some, int64_t all) { return some <= all; });
}

double register_bytes(const DeviceConfig& device) {
  constexpr double kWordBytes = 4;
  return kWordBytes * static_cast<double>(device.vpu.lanes * device.vpu.sublanes);
}

}  // namespace

ShortRuns short_runs(ShapeRef part, ShapeRef whole, const DeviceConfig& device) {
  if (part == whole || !is_window(part, whole)) return {};
  const WindowRuns found = window_runs(whole, part->dimensions);
  if (found.run_bytes >= register_bytes(device)) return {};
  return {found.runs, found.rows};
}

Picoseconds strided_time(const ShortRuns& runs, const DmaConfig& dma) {
  return ceil_picoseconds(runs.runs * static_cast<double>(dma.short_run.count()) +
                          runs.rows * static_cast<double>(dma.short_run_row.count()));
}

void add_moves(std::array<Picoseconds, kUnitCount>& busy, const ComputeSummary& compute, const Traffic& hbm,
               const MemorySystem& memory, const DeviceConfig& device) {
  const auto at_least = [&](size_t space, Picoseconds time) {
    Picoseconds& unit = busy[index_of(memory.unit_of(space))];
    unit = std::max(unit, time);
  };
  if (compute.hbm_reads.runs + compute.hbm_writes.runs > 0) {
    // What is read can also come in tile by tile; writing must not touch what lies beside.
    const double tiles = compute.hbm_reads.runs * register_bytes(device) * memory.rates(memory.hbm()).read;
    at_least(memory.hbm(), std::min(strided_time(compute.hbm_reads, device.dma), ceil_picoseconds(tiles)) +
                               strided_time(compute.hbm_writes, device.dma));
  }
  const double tiles = hbm.total().count() == 0 ? compute.moved_tiles : compute.regrouped_tiles;
  const size_t vmem = memory.space_of(1);
  if (tiles <= 0 || vmem == kUnknownSpace) return;
  const double cycles = tiles * device.vmem.tile_move / static_cast<double>(device.cores);
  at_least(vmem, ceil_picoseconds(cycles * 1e12 / device.clock.count()));
}

}  // namespace hlosim
