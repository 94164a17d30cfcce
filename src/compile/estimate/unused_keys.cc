#include "estimate/unused_keys.h"

#include <fmt/format.h>

#include <algorithm>

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
    const Simulation& run = estimate.simulation;
    // Cycles, and the peaks in the report's head.
    add({"clock", "cores", "cores_per_chip", "mxu.count", "mxu.rows", "mxu.columns", "mxu.types.bf16.rows",
         "mxu.types.bf16.cadence", "mxu.types.bf16.passes"});
    if (!run.loops.empty()) add({"overhead.loop_iteration"});
    if (run.grid.devices() > 1) add({"ici.links", "ici.pod", "ici.wrap", "ici.default_slice", "host.chips"});
    const bool lays_out = !carries_tiles(given);
    if (lays_out) add({"tiling", "vpu.lanes", "vpu.sublanes"});
    // Lowering chooses by the times of programs that don't run in the end, and by room.
    if (estimate.is_lowered) add({"memory", "dma", "overhead", "vmem", "sparsecore", "mxu", "vpu"});
    for (const EnergyPart& part : energy_of(device.config, run.totals))
      if (part.energy.count() > 0) paths_.push_back(part.path);
    const TimeByKind kinds = kinds_of(run.totals);
    for (size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i].count() > 0)
        paths_.push_back(fmt::format("errors.{}", error_key(static_cast<CostCategory>(i))));
    add_memory();
  }

  void add_all(const std::set<std::string, std::less<>>& paths) {
    paths_.insert(paths_.end(), paths.begin(), paths.end());
  }

  /// HBM's bandwidth and that of DMA: a term names the one that limits, the slower of the two.
  void add_bus() {
    const std::string hbm = fmt::format("memory.{}.bandwidth", device_.config.hbm().name);
    if (contains(hbm)) add({"dma.bandwidth"});
    if (contains("dma.bandwidth")) paths_.push_back(hbm);
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

}  // namespace

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
  keys.add_all(keys_of_transfers(estimate.simulation, device));
  keys.add_bus();
  for (const DeviceChange& change : device.changes) {
    const DeviceValue* const value = device.value(change.path);
    if (is_name(change.path) || (value && !value->has_source)) continue;
    if (!keys.holds(change.path))
      unused.keys.push_back({change.path, change.text, change.previous, change.from_set});
  }
  return unused;
}

}  // namespace hlosim
