#include "estimate/unused_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/hash.h"
#include "estimate/energy_use.h"
#include "estimate/time_range.h"
#include "model/device_overrides.h"
#include "model/native_layouts.h"
#include "sim/transfer_terms.h"
#include "terms/read_keys.h"

namespace hlosim {
namespace {

/// Keys that results of the whole run read.
class RunKeys {
 public:
  RunKeys(const Module& given, const Device& device, const Estimate& estimate)
      : device_(device), estimate_(estimate) {
    const Simulation& run = *estimate.simulation;
    // Cycles, and the peaks in the report's head.
    add({"clock", "cores", "cores_per_chip", "mxu.count", "mxu.rows", "mxu.columns", "mxu.types.bf16.rows",
         "mxu.types.bf16.cadence", "mxu.types.bf16.passes"});
    if (!run.loops.empty()) add({"overhead.loop_iteration"});
    if (run.grid.devices() > 1)
      add({"ici.links", "ici.pod", "ici.wrap", "ici.one_way_rings", "ici.default_slice", "host.chips"});
    const bool lays_out = !carries_tiles(given);
    if (lays_out) add({"tiling", "vpu.lanes", "vpu.sublanes"});
    for (const EnergyPart& part : energy_of(device.config, run.totals))
      if (part.energy.count() > 0) paths_.push_back(part.path);
    add_ranges();
    add_memory();
  }

  void add_all(const std::set<std::string, std::less<>>& paths) {
    paths_.insert(paths_.end(), paths.begin(), paths.end());
  }

  /// A term names the slower of HBM's bandwidth and that of DMA. With another value the other one may be it.
  bool is_hidden_rate(std::string_view key) const {
    const std::string hbm = fmt::format("memory.{}.bandwidth", device_.config.hbm().name);
    return (key == hbm && contains("dma.bandwidth")) || (key == "dma.bandwidth" && contains(hbm));
  }

  /// It is one of the keys, below one of the sections, or another rate keeps its share of it.
  bool holds(std::string_view key) const {
    return contains(key) || std::ranges::any_of(device_.values, [&](const DeviceValue& other) {
             return keeps_share(other, key) && contains(other.path);
           });
  }

 private:
  bool contains(std::string_view key) const {
    return std::ranges::any_of(paths_, [&](const std::string& path) {
      return key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '.');
    });
  }

  void add(std::initializer_list<std::string_view> paths) {
    paths_.insert(paths_.end(), paths.begin(), paths.end());
  }

  /// As time_range() reads them.
  void add_ranges() {
    if (device_.config.errors && device_.config.errors->step && is_step(*estimate_.simulation))
      return add({"errors.step"});
    const TimeByKind kinds = kinds_of(estimate_.simulation->totals);
    for (size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i].count() > 0)
        paths_.push_back(fmt::format("errors.{}", error_key(static_cast<CostCategory>(i))));
  }

  /// Spaces that hold something, or that the device is said to have by their numbers.
  void add_memory() {
    for (const SpaceOccupancy& space : estimate_.occupancy.spaces) {
      const MemorySpace* const config = device_.config.memory_space(space.number);
      if (!config) continue;
      for (const char* key : {".capacity", ".usable", ".scope", ".numbers"})
        paths_.push_back("memory." + config->name + key);
      if (space.reserved) add({"vmem.scoped_limit"});
    }
  }

  const Device& device_;
  const Estimate& estimate_;
  std::vector<std::string> paths_;
};

class Hash {
 public:
  void add(int64_t value) { hash_.add_word(static_cast<uint64_t>(value)); }
  void add(double value) { add(std::bit_cast<int64_t>(value)); }
  void add(Picoseconds time) { add(int64_t{time.count()}); }
  void add(Bytes bytes) { add(bytes.count()); }
  void add(const SpaceTraffic& traffic) {
    for (const Traffic& part : traffic) add(part.read), add(part.written);
  }
  template <size_t n>
  void add(const std::array<Picoseconds, n>& times) {
    for (const Picoseconds time : times) add(time);
  }
  uint64_t value() const { return hash_.value(); }

 private:
  Fnv1a hash_;
};

void add_totals(Hash& hash, const Totals& totals) {
  hash.add(totals.makespan);
  hash.add(totals.cycles.count());
  hash.add(totals.lower_bound);
  hash.add(totals.busy);
  hash.add(totals.traffic);
  hash.add(totals.sent);
  hash.add(totals.padded_bytes);
}

void add_occupancy(Hash& hash, const Occupancy& occupancy) {
  for (const SpaceOccupancy& space : occupancy.spaces) {
    hash.add(space.number);
    hash.add(space.peak);
    hash.add(int64_t{space.peak_step});
    hash.add(space.capacity.value_or(Bytes(-1)));
    hash.add(space.reserved.value_or(Bytes(-1)));
  }
}

/// There is a device without the change `index`, and its run is the same.
bool is_same_without(size_t index, const Module& module, const OpTable& table, const Device& device,
                     const EstimateOptions& options, const Estimate& estimate) {
  const std::optional<Device> other = device.without_change(index);
  if (!other) return false;
  EstimateOptions bare = options;
  bare.simulate.keep_timeline = false;
  const Result<Estimate> rerun = hlosim::estimate(module, table, *other, bare);
  if (!rerun) return false;
  return result_fingerprint(*rerun, other->config) == result_fingerprint(estimate, device.config);
}

}  // namespace

// The peak rate of HBM by itself is a line of the report's heading and no result: another rate may limit it.
uint64_t result_fingerprint(const Estimate& estimate, const DeviceConfig& device) {
  Hash hash;
  hash.add(device.clock.count());
  hash.add(peak_flops(device, ElementType::kBF16).count());
  add_totals(hash, estimate.simulation->totals);
  add_occupancy(hash, estimate.occupancy);
  if (const auto range = time_range(device.errors, *estimate.simulation))
    hash.add(range->low), hash.add(range->high);
  for (const EnergyPart& part : energy_of(device, estimate.simulation->totals)) hash.add(part.energy.count());
  for (const InstructionRecord& record : estimate.simulation->instructions) {
    hash.add(record.time);
    hash.add(record.exposed);
    hash.add(static_cast<int64_t>(record.bound_by));
    const InstructionCost& cost = estimate.simulation->cost(record);
    hash.add(cost.busy);
    hash.add(cost.fixed);
    hash.add(cost.traffic);
  }
  for (const TransferRecord& transfer : estimate.simulation->transfers) {
    hash.add(transfer.start);
    hash.add(transfer.begin);
    hash.add(transfer.end);
    hash.add(transfer.exposed);
    if (transfer.collective) hash.add(transfer.collective->network);
  }
  return hash.value();
}

UnusedKeys keys_without_effect(const Module& module, const OpTable& table, const Device& device,
                               const EstimateOptions& options, const Estimate& estimate, size_t most) {
  UnusedKeys unused;
  if (device.changes.empty()) return unused;
  const Module& ran = *estimate.module;
  ReadKeys read(device.config);
  const bool is_small = ran.instructions.size() <= most;
  if (!is_small || !record_costs(ran, table, device, {options.simulate.custom_calls}, read)) {
    unused.unchecked = device.changes.size();
    return unused;
  }
  RunKeys keys(module, device, estimate);
  keys.add_all(read.paths());
  keys.add_all(keys_of_transfers(*estimate.simulation, device));
  size_t left = most;
  for (size_t i = 0; i < device.changes.size(); ++i) {
    const DeviceChange& change = device.changes[i];
    const DeviceValue* const value = device.value(change.path);
    if (is_name(change.path) || (value && !value->has_source) || keys.holds(change.path)) continue;
    // Lowering chooses by the times of programs that don't run in the end, and by room.
    if (estimate.is_lowered || keys.is_hidden_rate(change.path)) {
      const size_t instructions = std::max<size_t>(module.instructions.size(), 1) * kRunsOfLowering;
      if (instructions > left) {
        ++unused.unchecked;
        continue;
      }
      left -= instructions;
      if (!is_same_without(i, module, table, device, options, estimate)) continue;
    }
    unused.keys.push_back({change.path, change.text, change.previous, change.from_set});
  }
  return unused;
}

}  // namespace hlosim
