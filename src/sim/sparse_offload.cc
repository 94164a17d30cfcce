#include "sim/sparse_offload.h"

#include <algorithm>
#include <cmath>

#include "layout/sizes.h"
#include "layout/window_runs.h"

namespace hlosim {
namespace {

bool is_hbm_table(ShapeRef table, const DeviceConfig& device) {
  return table->is_array() && !table->is_unbounded() &&
         device.memory_space(table->memory_space()) == &device.hbm();
}

/// Index vectors of a gather.
double row_count(const Module& module, const Instruction& gather) {
  const ShapeRef indices = module[gather.operands[1]].shape;
  const Attr* vector = gather.find(AttrKey::kIndexVectorDim);
  double count = 1;
  for (int64_t i = 0; i < indices->rank(); ++i)
    if (!vector || i != vector->integer()) count *= static_cast<double>(indices->dim(i));
  return count;
}

}  // namespace

std::optional<SparseCoreGather> gather_by_sparse_cores(const Module& module, InstructionId id,
                                                       const DeviceConfig& device) {
  const Instruction& gather = module[id];
  if (!device.sparsecore || gather.opcode != Opcode::kGather) return std::nullopt;
  const ShapeRef table = module[gather.operands[0]].shape;
  if (!is_hbm_table(table, device) || !gather.shape->is_array()) return std::nullopt;
  constexpr double kWordBytes = 4, kMost = 4e18;
  const SparseCoreConfig& core = *device.sparsecore;
  const double granule = kWordBytes * static_cast<double>(core.lanes);
  const auto granules = [&](double bytes) { return std::ceil(bytes / granule) * granule; };
  const WindowRuns row = window_runs(table, gather.find(AttrKey::kSliceSizes)->ints());
  const double read = row_count(module, gather) * row.runs * granules(row.run_bytes);
  const auto written = static_cast<double>(array_size(gather.shape).count());
  const auto subcores = static_cast<double>(core.count * core.subcores * device.cores);
  const double cycles =
      (read + written) / granule * static_cast<double>(core.cadence.count()) / std::max(subcores, 1.0);
  return SparseCoreGather{Bytes(static_cast<int64_t>(std::min(read, kMost))),
                          Bytes(static_cast<int64_t>(std::min(written, kMost))),
                          ceil_picoseconds(cycles * 1e12 / device.clock.count())};
}

bool offloads_gather(const Module& module, InstructionId id, const DeviceConfig& device) {
  const Instruction& gather = module[id];
  if (!device.sparsecore || !device.sparsecore->offload_gathers || gather.opcode != Opcode::kGather)
    return false;
  const ShapeRef table = module[gather.operands[0]].shape;
  const MemorySpace* vmem = device.memory_space(int64_t{1});
  return is_hbm_table(table, device) && vmem && vmem->capacity && array_size(table) > *vmem->capacity;
}

}  // namespace hlosim
