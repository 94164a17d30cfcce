#include "lower/lower.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "hlo/graph.h"
#include "interconnect/sparse_core.h"
#include "layout/native_tiling.h"
#include "lower/host_copies.h"
#include "lower/inline.h"
#include "lower/same_schedule.h"
#include "lower/spill.h"
#include "memory/occupancy.h"
#include "model/cost_details.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "ops/collective_groups.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/infer.h"
#include "schedule/latency_schedule.h"

namespace hlosim {

bool is_plain(const Module& module) {
  if (module.is_scheduled() && !is_of_other_device(module)) return false;
  return std::ranges::none_of(
             module.instructions,
             [](const Instruction& instruction) { return carries_tiles(instruction.shape); }) &&
         bitcasts_can_be_spelled_out(module);
}

namespace {

constexpr std::string_view kAsItStands = "as it stands";

struct Candidate {
  std::string_view how;
  std::vector<const Pass*> passes;
};

/// `passes` with one more before the one of that name, if they have that.
void add_before(std::vector<const Pass*>& passes, std::string_view name, std::string_view more) {
  const auto at = std::ranges::find_if(passes, [&](const Pass* pass) { return pass->name == name; });
  if (at != passes.end()) passes.insert(at, parse_passes(more)->front());
}

/// The default passes but for the last one, which made_to_fit() does: only of candidates that are fast so
/// far.
std::vector<const Pass*> passes_before_spill() {
  std::vector<const Pass*> passes = default_passes();
  HLOSIM_CHECK(passes.back()->name == "spill", "the last default pass is {}", passes.back()->name);
  passes.pop_back();
  return passes;
}

/// The same but for one.
std::vector<const Pass*> without(std::string_view name) {
  std::vector<const Pass*> passes = passes_before_spill();
  std::erase_if(passes, [&](const Pass* pass) { return pass->name == name; });
  return passes;
}

std::vector<const Pass*> with_sliced() {
  std::vector<const Pass*> passes = passes_before_spill();
  for (const Pass*& pass : passes)
    if (pass->name == "place") pass = parse_passes("place-sliced")->front();
  return passes;
}

/// The same and slices of loops one iteration ahead.
std::vector<const Pass*> with_slices_ahead() {
  std::vector<const Pass*> passes = passes_before_spill();
  add_before(passes, "fuse", "slice-ahead");
  return passes;
}

/// `pipelined`: loops read from the host's memory ahead and write behind.
std::vector<Candidate> candidates(const Module& module, const OpTable& table, bool pipelined) {
  std::vector<Candidate> found{{kLoweredByDefault, passes_before_spill()}};
  found.push_back({"by the default passes, without prefetch", without("prefetch")});
  const bool has_loops = std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
    return instruction.find(AttrKey::kBody) != nullptr;
  });
  if (has_loops) {
    found.push_back({"by the default passes, with what its loops slice on the chip", with_sliced()});
    found.push_back(
        {"by the default passes, with what its loops slice one iteration ahead", with_slices_ahead()});
  }
  const bool has_fusions = std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    return table[instruction.opcode].has(kFusion);
  });
  if (has_fusions) found.push_back({"its own fusions kept", without("inline")});
  const bool has_layouts =
      module.is_scheduled() || std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
        return instruction.opcode == Opcode::kBitcast || instruction.opcode == Opcode::kCopy;
      });
  if (has_layouts)
    found.push_back({"as it stands but for its layouts", *parse_passes("spell-layouts,own-results,tile")});
  if (pipelined)
    for (Candidate& one : found) add_before(one.passes, "host-copies", "pipeline-host");
  found.push_back({kAsItStands, *parse_passes("own-results,tile")});
  return found;
}

bool begins(const std::vector<const Pass*>& passes, const std::vector<const Pass*>& start) {
  return start.size() <= passes.size() && std::equal(start.begin(), start.end(), passes.begin());
}

/// Nothing is fused, so that what each operation takes by itself mostly is too much already: that is known
/// long before all of them are copied, simulated and given records.
bool is_slow_as_it_stands(const Module& module, const OpTable& table, const Device& device,
                          const SimulateOptions& options, Picoseconds least) {
  return !carries_tiles(module) &&
         cost_unchanged(lay_out(module, device).module, table, device, {options.custom_calls}, least);
}

/// A module and what it takes; kForever: it can't be simulated.
struct Timed {
  Module module;
  std::optional<Simulation> simulation;
  Picoseconds time() const { return simulation ? simulation->totals.makespan : kForever; }
};

Timed timed(Module module, const OpTable& table, const Device& device, const SimulateOptions& options) {
  Result<Simulation> simulation = simulate(module, table, device, options);
  Timed one{std::move(module), {}};
  if (simulation) one.simulation = std::move(*simulation);
  return one;
}

/// The same with as much on the chip as there is room for.
Timed made_to_fit(Timed one, const OpTable& table, const Device& device, const SimulateOptions& options) {
  if (spill_overflow(one.module, table, device.config) == 0) return one;
  return timed(compacted(std::move(one.module), table), table, device, options);
}

/// An order with pairs of start and done; nothing: it hides nothing, or nothing is known of it.
std::optional<LatencySchedule> order_with_pairs(const Module& module, const OpTable& table,
                                                const Device& device,
                                                const LatencyScheduleOptions& scheduling) {
  Result<LatencySchedule> scheduled = tune_schedule(module, table, device, scheduling);
  if (!scheduled) return std::nullopt;  // the slice doesn't hold the module's devices
  // Where nothing can be hidden there is no reason for pairs.
  const bool hides = std::ranges::any_of(scheduled->transfers, [](const ScheduledTransfer& transfer) {
    return transfer.before != transfer.start && transfer.exposed_after < transfer.duration;
  });
  if (!hides) scheduled->kept_input = true;
  return std::move(*scheduled);
}

/// Do the collective's groups have members in several slices?
bool crosses_slices(const Module& module, const OpTable& table, InstructionId id, const Simulation& run) {
  if (!id.valid()) return false;
  ShapePool shapes = module.shapes().copy();
  const OpContext op(module, shapes, module[id], table, nullptr);
  const Result<CollectiveGroups> groups = collective_groups(op, run.grid);
  if (!groups) return false;
  const int64_t in_slice = run.slice.devices() / std::max<int64_t>(1, run.slice.count);
  const auto slice_of = [&](int64_t member) {
    const int64_t replica = member / run.grid.partitions, partition = member % run.grid.partitions;
    return (partition * run.grid.replicas + replica) / std::max<int64_t>(1, in_slice);
  };
  const auto spread = [&](const auto& members) {
    return std::ranges::any_of(members,
                               [&](int64_t one) { return slice_of(one) != slice_of(*members.begin()); });
  };
  return std::ranges::any_of(groups->groups, spread) || std::ranges::any_of(groups->pairs, spread);
}

/// Names of collectives that the TensorCore waits for, whatever stands between start and done. It scatters in the
/// kernel that makes what it reduces, and waits for the end. Gathers that it drives go on beside products where
/// these carry them. Between slices hosts send and add up, and no measured run hides that.
std::set<std::string, std::less<>> waited_for(const Lowered& lowered, const OpTable& table,
                                              const Device& device, const SimulateOptions& options,
                                              const CompilerChoices& compiler) {
  const Module& module = lowered.module;
  const DeviceConfig& config = device.config;
  const SparseCoreWork offloads(module, table);
  const bool scatters_apart =
      compiler.offload_reduce_scatters || (config.sparsecore && config.sparsecore->offload_reduce_scatters);
  const bool gathers_apart = compiler.fused_gathers || !config.ici.core_bandwidth;
  std::set<std::string, std::less<>> whole;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Opcode opcode = module[id].opcode;
      if ((opcode == Opcode::kReduceScatter && !scatters_apart) ||
          (opcode == Opcode::kAllGather && !gathers_apart && !offloads.has(id)))
        whole.emplace(module[id].name);
    }
  if (options.slice.slices <= 1) return whole;
  const Result<Simulation> run = simulate(module, table, device, options);
  if (!run) return whole;
  for (const TransferRecord& transfer : run->transfers)
    if (transfer.collective && crosses_slices(module, table, transfer.collective->instruction, *run))
      whole.emplace(module[transfer.start_instruction].name);
  return whole;
}

/// Collectives that run as such become pairs of start and done with work between, in whatever came out. Where
/// on-chip memory has too little room for the order that hides most, the faster of two: parts of the order,
/// or all of it, with values moved back to HBM.
Lowered hide_collectives(Lowered lowered, const OpTable& table, const Device& device,
                         const SimulateOptions& options, const CompilerChoices& compiler) {
  const bool has_any = std::ranges::any_of(lowered.module.instructions, [&](const Instruction& instruction) {
    return table[instruction.opcode].has(kCollective);
  });
  if (!has_any || lowered.how == kAsItStands) return lowered;
  LatencyScheduleOptions scheduling;
  scheduling.simulate = options;
  scheduling.whole = waited_for(lowered, table, device, options, compiler);
  std::optional<LatencySchedule> fitting = order_with_pairs(lowered.module, table, device, scheduling);
  if (!fitting) return lowered;
  Picoseconds least = fitting->time_before;
  const Module given = fitting->short_on_chip ? lowered.module.copy() : Module();
  if (!fitting->kept_input && fitting->time_after < least) {
    least = fitting->time_after;
    lowered.module = std::move(fitting->module);
    lowered.simulation.reset();
  }
  if (!fitting->short_on_chip) return lowered;
  scheduling.fits_on_chip = false;
  std::optional<LatencySchedule> whole = order_with_pairs(given, table, device, scheduling);
  if (!whole || whole->kept_input || whole->time_after >= least) return lowered;
  if (spill_overflow(whole->module, table, device.config) > 0)
    whole->module = compacted(std::move(whole->module), table);
  Timed one = timed(std::move(whole->module), table, device, options);
  if (one.time() >= least) return lowered;
  lowered.module = std::move(one.module);
  lowered.simulation = std::move(one.simulation);
  return lowered;
}

}  // namespace

namespace {

Lowered lower_once(const Module& module, const OpTable& table, const Device& device,
                   const SimulateOptions& options, const PassObserver& after, const CompilerChoices& compiler,
                   bool pipelined) {
  SimulateOptions quick = options;
  quick.keep_timeline = false;
  const PassContext context{table, device, options.stop, compiler};
  std::optional<Lowered> best;
  Picoseconds least = kForever;
  const std::vector<Candidate> all = candidates(module, table, pipelined);
  std::optional<Module> shared;  // what the second one is, and the first before its last passes
  for (const Candidate& candidate : all) {
    if (best && candidate.how == kAsItStands && is_slow_as_it_stands(module, table, device, quick, least))
      continue;
    const PassObserver observer = best ? PassObserver() : after;
    Module one = [&] {
      if (shared && &candidate == &all[1]) return std::move(*shared);
      if (best || all.size() < 2 || !begins(candidate.passes, all[1].passes))
        return run_passes(module, candidate.passes, context, observer);
      shared = run_passes(module, all[1].passes, context, observer);
      const auto rest = std::span(candidate.passes).subspan(all[1].passes.size());
      return run_more_passes(*shared, rest, context, observer);
    }();
    if (best && same_schedule(one, best->module)) continue;
    Timed run = timed(std::move(one), table, device, quick);
    if (best && run.time() >= least) continue;
    if (candidate.how != kAsItStands) run = made_to_fit(std::move(run), table, device, quick);
    if (!best && after) after(*default_passes().back(), run.module);
    if (best && run.time() >= least) continue;
    least = run.time();
    best = Lowered{std::move(run.module), candidate.how, std::move(run.simulation)};
  }
  if (!options.go_on()) return std::move(*best);
  return hide_collectives(std::move(*best), table, device, quick, compiler);
}

/// A loop's body copies from or to the host's memory.
bool copies_in_loops(const Module& module, const OpTable& table) {
  for (const FlowComputation& flow : flow_computations(module, table)) {
    if (flow.id == module.entry) continue;
    for (const InstructionId id : module[flow.id].instructions) {
      const Opcode opcode = module[id].opcode;
      if (opcode != Opcode::kDynamicSlice && opcode != Opcode::kDynamicUpdateSlice) continue;
      const ShapeRef whole = module[module[id].operands[0]].shape;
      if (whole->is_array() && whole->memory_space() == kHostSpace) return true;
    }
  }
  return false;
}

/// What the compiler's scheduler leaves free of HBM before it takes to orders that need less: it begins again with
/// this share of its limit (rerun, docs/schedule.md).
constexpr double kSchedulersShare = 0.9;

/// Bytes of HBM that the module needs beyond what its order may take; 0: it fits.
int64_t beyond_hbm(const Module& module, const OpTable& table, const DeviceConfig& device) {
  const MemorySpace& hbm = device.hbm();
  const std::optional<Bytes> room = hbm.usable ? hbm.usable : hbm.capacity;
  if (!room) return 0;
  const Occupancy held = memory_occupancy(module, device, make_schedule(module, table).order);
  for (const SpaceOccupancy& space : held.spaces)
    if (space.number == kDefaultMemorySpace)
      return std::max<int64_t>(
          0,
          space.peak.count() - static_cast<int64_t>(kSchedulersShare * static_cast<double>(room->count())));
  return 0;
}

Picoseconds time_of(const Lowered& lowered, const OpTable& table, const Device& device,
                    const SimulateOptions& options) {
  if (lowered.simulation) return lowered.simulation->totals.makespan;
  const Result<Simulation> run = simulate(lowered.module, table, device, options);
  return run ? run->totals.makespan : kForever;
}

}  // namespace

Lowered lower_as(const Module& module, const OpTable& table, const Device& device,
                 const SimulateOptions& options, const PassObserver& after, const CompilerChoices& compiler) {
  Lowered plain = lower_once(module, table, device, options, after, compiler, false);
  if (compiler.overlapped_host_copies <= 1 || !options.go_on() || !copies_in_loops(module, table))
    return plain;
  Lowered ahead = lower_once(module, table, device, options, {}, compiler, true);
  spread_host_copies(ahead.module);
  ahead.simulation.reset();
  if (beyond_hbm(ahead.module, table, device.config) > beyond_hbm(plain.module, table, device.config))
    return plain;
  SimulateOptions quick = options;
  quick.keep_timeline = false;
  return time_of(ahead, table, device, quick) < time_of(plain, table, device, quick) ? std::move(ahead)
                                                                                     : std::move(plain);
}

Module lower(const Module& module, const OpTable& table, const Device& device, const SimulateOptions& options,
             const PassObserver& after) {
  return lower_as(module, table, device, options, after).module;
}

}  // namespace hlosim
