#include "lower/lower.h"

#include <algorithm>

#include "layout/native_tiling.h"
#include "links/sparse_core.h"
#include "lower/inline.h"
#include "lower/run_alike.h"
#include "model/cost_details.h"
#include "model/native_layouts.h"
#include "ops/custom_calls/custom_call_targets.h"
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

/// The default passes but for one.
std::vector<const Pass*> without(std::string_view name) {
  std::vector<const Pass*> passes = default_passes();
  std::erase_if(passes, [&](const Pass* pass) { return pass->name == name; });
  return passes;
}

std::vector<const Pass*> with_sliced() {
  std::vector<const Pass*> passes = default_passes();
  for (const Pass*& pass : passes)
    if (pass->name == "place") pass = parse_passes("place-sliced")->front();
  return passes;
}

/// The default passes and slices of loops one iteration ahead.
std::vector<const Pass*> with_slices_ahead() {
  std::vector<const Pass*> passes = default_passes();
  const auto fuse = std::ranges::find_if(passes, [](const Pass* pass) { return pass->name == "fuse"; });
  passes.insert(fuse, parse_passes("slice-ahead")->front());
  return passes;
}

std::vector<Candidate> candidates(const Module& module, const OpTable& table) {
  std::vector<Candidate> found{{kLoweredByDefault, default_passes()}};
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
         takes_as_long(lay_out(module, device).module, table, device, {options.custom_calls}, least);
}

/// Collectives that run as such become pairs of start and done with work between, in whatever came out.
Lowered hide_collectives(Lowered lowered, const OpTable& table, const Device& device,
                         const SimulateOptions& options) {
  const bool has_any = std::ranges::any_of(lowered.module.instructions, [&](const Instruction& instruction) {
    return table[instruction.opcode].has(kCollective);
  });
  if (!has_any || lowered.how == kAsItStands) return lowered;
  LatencyScheduleOptions scheduling;
  scheduling.simulate = options;
  // A TensorCore scatters in the kernel that makes what it reduces, and waits for the end.
  const auto& sparsecore = device.config.sparsecore;
  scheduling.split_reduce_scatters = sparsecore && sparsecore->offload_reduce_scatters;
  Result<LatencySchedule> scheduled = tune_schedule(lowered.module, table, device, scheduling);
  if (!scheduled) return lowered;  // the slice doesn't hold the module's devices
  // Where nothing can be hidden there is no reason for pairs.
  const bool hides = std::ranges::any_of(scheduled->transfers, [](const ScheduledTransfer& transfer) {
    return transfer.before != transfer.start && transfer.exposed_after < transfer.duration;
  });
  if (!hides || scheduled->time_after >= scheduled->time_before) return lowered;
  lowered.module = std::move(scheduled->module);
  lowered.simulation.reset();
  return lowered;
}

}  // namespace

Lowered lower_as(const Module& module, const OpTable& table, const Device& device,
                 const SimulateOptions& options, const PassObserver& after) {
  SimulateOptions quick = options;
  quick.keep_timeline = false;
  const PassContext context{table, device, options.stop};
  std::optional<Lowered> best;
  Picoseconds least = kForever;
  const std::vector<Candidate> all = candidates(module, table);
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
    if (best && run_alike(one, best->module)) continue;
    Result<Simulation> simulation = simulate(one, table, device, quick);
    const Picoseconds time = simulation ? simulation->totals.makespan : kForever;
    if (best && time >= least) continue;
    least = time;
    best = Lowered{std::move(one), candidate.how, {}};
    if (simulation) best->simulation = std::move(*simulation);
  }
  if (!options.go_on()) return std::move(*best);
  return hide_collectives(std::move(*best), table, device, quick);
}

Module lower(const Module& module, const OpTable& table, const Device& device, const SimulateOptions& options,
             const PassObserver& after) {
  return lower_as(module, table, device, options, after).module;
}

}  // namespace hlosim
