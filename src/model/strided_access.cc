#include "model/strided_access.h"

#include <algorithm>

#include "layout/window_runs.h"
#include "model/core.h"
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

double register_bytes(const Core& core) {
  constexpr double kWordBytes = 4;
  return kWordBytes * core.register_elements();
}

Picoseconds time_of(const ShortRuns& runs, const Core& core) {
  return core.short_runs_time(runs.runs, runs.rows);
}

}  // namespace

ShortRuns short_runs(ShapeRef part, ShapeRef whole, const Core& core) {
  if (part == whole || !is_window(part, whole)) return {};
  const WindowRuns found = window_runs(whole, part->dimensions);
  if (found.run_bytes >= register_bytes(core)) return {};
  return {found.runs, found.rows};
}

void add_moves(std::array<Picoseconds, kUnitCount>& busy, const ComputeSummary& compute, const Traffic& hbm,
               const MemorySystem& memory, const Core& core) {
  const auto at_least = [&](size_t space, Picoseconds time) {
    Picoseconds& unit = busy[index_of(memory.unit_of(space))];
    unit = std::max(unit, time);
  };
  if (compute.hbm_reads.runs + compute.hbm_writes.runs > 0) {
    // What is read can also come in tile by tile; writing must not touch what lies beside.
    const double tiles = compute.hbm_reads.runs * register_bytes(core) * memory.rates(memory.hbm()).read;
    at_least(memory.hbm(), std::min(time_of(compute.hbm_reads, core), ceil_picoseconds(tiles)) +
                               time_of(compute.hbm_writes, core));
  }
  const double tiles = hbm.total().count() == 0 ? compute.moved_tiles : compute.regrouped_tiles;
  const size_t vmem = memory.space_of(1);
  if (tiles <= 0 || vmem == kUnknownSpace) return;
  at_least(vmem, core.time(core.tile_move_cycles(tiles)));
}

}  // namespace hlosim
