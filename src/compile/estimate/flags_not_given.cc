#include "estimate/flags_not_given.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/partition_over_mesh.h"
#include "estimate/unpartitioned.h"
#include "flags/xla_flags.h"

namespace hlosim {
namespace {

constexpr int64_t kKib = 1024;

/// The device with one flag at its other end.
struct OtherEnd {
  std::string value, other;
  Device device;
};

std::optional<OtherEnd> other_vmem_limit(const Device& device, const Estimate& estimate) {
  const Bytes limit = device.config.vmem.scoped_limit;
  const std::optional<Bytes> other = largest_vmem_limit(device, estimate);
  if (!other || *other == limit) return std::nullopt;
  OtherEnd end{std::to_string(limit.count() / kKib), std::to_string(other->count() / kKib), device};
  end.device.config.vmem.scoped_limit = *other;
  return end;
}

std::optional<OtherEnd> other_clock(const Device& device) {
  const std::vector<Hertz>& clocks = device.config.p_states;
  const auto now = std::find(clocks.begin(), clocks.end(), device.config.clock);
  if (now == clocks.end() || clocks.size() < 2) return std::nullopt;
  const auto distance = [&](Hertz clock) { return std::abs(clock.count() - device.config.clock.count()); };
  const auto other = std::max_element(clocks.begin(), clocks.end(),
                                      [&](Hertz a, Hertz b) { return distance(a) < distance(b); });
  OtherEnd end{std::to_string(now - clocks.begin()), std::to_string(other - clocks.begin()), device};
  end.device.config.clock = *other;
  return end;
}

std::optional<OtherEnd> other_tiles(const Device& device) {
  const bool large = device.config.tiling.large_second_minor;
  OtherEnd end{large ? "true" : "false", large ? "false" : "true", device};
  end.device.config.tiling.large_second_minor = !large;
  return end;
}

std::optional<OtherEnd> other_end(XlaFlagEffect effect, const Device& device, const Estimate& estimate) {
  switch (effect) {
    case XlaFlagEffect::kVmemLimit:
      return other_vmem_limit(device, estimate);
    case XlaFlagEffect::kPState:
      return other_clock(device);
    case XlaFlagEffect::kLargeTiles:
      return other_tiles(device);
    case XlaFlagEffect::kCompiler:
    case XlaFlagEffect::kInText:
    case XlaFlagEffect::kScheduled:
    case XlaFlagEffect::kRuntime:
    case XlaFlagEffect::kDump:
      break;
  }
  return std::nullopt;
}

/// The program of one device, which none of these flags changes, and `options` for that; the module itself
/// where the fastest partitioning is searched for, or where it isn't partitioned.
Module partitioned_once(const Module& module, const OpTable& table, const Device& device,
                        EstimateOptions& options) {
  if (options.mesh && options.mesh->windowed == WindowedProducts::kAuto) return module.copy();
  std::optional<MeshRequest> request = options.mesh;
  if (!request && options.partitioning == Partitioning::kSharded) request = default_request(module, table);
  if (!request) return module.copy();
  Result<PartitionedProgram> partitioned =
      partition_over_mesh(module, table, device, options.simulate, by_flags(*request, options.compiler));
  if (!partitioned) return module.copy();
  options.mesh.reset();
  options.partitioning = Partitioning::kNever;
  return std::move(partitioned->module);
}

}  // namespace

std::optional<Bytes> largest_vmem_limit(const Device& device, const Estimate& estimate) {
  const auto is_vmem = [](const SpaceOccupancy& space) {
    return space.number == kVmemSpace && space.capacity;
  };
  const auto& spaces = estimate.occupancy.spaces;
  const auto vmem = std::find_if(spaces.begin(), spaces.end(), is_vmem);
  const MemorySpace* space = device.config.memory_space(kVmemSpace);
  if (!space || !space->capacity) return std::nullopt;
  Bytes left = *space->capacity;
  if (vmem != spaces.end()) left = Bytes((*vmem->capacity - vmem->peak).count() / device.config.cores);
  const Bytes most(left.count() / kKib * kKib);
  if (most <= device.config.vmem.internal_scratch) return std::nullopt;
  return most;
}

std::vector<FlagNotGiven> flags_not_given(const Module& module, const OpTable& table, const Device& device,
                                          const EstimateOptions& options, const Estimate& estimate) {
  EstimateOptions bare = options;
  bare.simulate.keep_timeline = false;
  std::optional<Module> partitioned;
  std::vector<FlagNotGiven> open;
  for (const KnownXlaFlag& flag : known_xla_flags()) {
    const auto sets = [&](const DeviceChange& change) { return change.path == flag.key; };
    if (flag.key.empty() || std::any_of(device.changes.begin(), device.changes.end(), sets)) continue;
    const std::optional<OtherEnd> end = other_end(flag.effect, device, estimate);
    if (!end) continue;
    FlagNotGiven& row = open.emplace_back();
    row.name = flag.name, row.key = flag.key;
    row.value = end->value, row.other = end->other;
    if (module.instructions.size() > kMostInstructionsForFlags) continue;
    if (!partitioned) partitioned = partitioned_once(module, table, device, bare);
    const Result<Estimate> rerun = hlosim::estimate(*partitioned, table, end->device, bare);
    if (rerun) row.time = rerun->simulation->totals.makespan;
  }
  return open;
}

}  // namespace hlosim
