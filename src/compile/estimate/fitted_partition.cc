#include "estimate/fitted_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/occupancy.h"
#include "sim/schedule.h"

namespace hlosim {
namespace {

/// 0: it isn't known.
int64_t room_beside(const Module& module, const OpTable& table, const Device* device) {
  if (!device) return 0;
  const Occupancy occupancy = memory_occupancy(module, device->config, make_schedule(module, table).order);
  for (const SpaceOccupancy& space : occupancy.spaces)
    if (space.number == 0 && space.capacity) return (*space.capacity - space.peak).count();
  return 0;
}

/// What a ring would have to gain on the device.
void set_rates(WindowedEinsum& einsum, const DeviceConfig& config) {
  einsum.flops_per_second = [&config](ElementType type) { return peak_flops(config, type).count(); };
  einsum.ring_bytes_per_second = 2 * config.ici.core_bandwidth.value_or(config.ici.bandwidth).count();
}

}  // namespace

Result<Partitioned> partition_to_fit(const Module& module, const OpTable& table, PartitionOptions options,
                                     const Device* device, AssumptionList& assumptions) {
  options.hoist_bytes = 0;
  if (device) set_rates(options.windowed, device->config);
  Result<Partitioned> made = partition(module, table, options);
  if (!made || std::ranges::none_of(made->reshardings, [](const Resharding& one) { return one.held > 0; }))
    return made;
  const int64_t room = room_beside(made->module, table, device);
  if (room > 0) {
    options.hoist_bytes = room;
    made = partition(module, table, options);
    if (!made) return made;
  }
  int64_t inside = 0, before = 0, held = 0;
  for (const Resharding& one : made->reshardings) {
    before += one.hoisted;
    inside += !one.hoisted && one.held > 0;
    if (one.hoisted) held += one.held;
  }
  assumptions.add(
      fmt::format("collectives of loop-invariant values: {} hoisted out of loops, which takes {} "
                  "of the {} that "
                  "the program leaves free; {} in every iteration",
                  before, to_text(Bytes(held)), to_text(Bytes(std::max<int64_t>(room, 0))), inside));
  return made;
}

}  // namespace hlosim
