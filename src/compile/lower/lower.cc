#include "lower/lower.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "hlo/graph.h"
#include "interconnect/offload.h"
#include "layout/native_tiling.h"
#include "lower/host_copies.h"
#include "lower/inline.h"
#include "lower/on_chip.h"
#include "lower/same_schedule.h"
#include "lower/sink_allocations.h"
#include "lower/spill.h"
#include "lower/standard_memories.h"
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

constexpr std::string_view kAsItStands = "unchanged";

/// Instructions from which on the default passes take so long (a tenth of a second) that a limit of time
/// counts for them too.
constexpr size_t kGivesUpFrom = 20'000;

struct Candidate {
  std::string_view how;
  std::vector<const Pass*> passes;
  bool only_places = false;  // the same as the first one where there is no on-chip memory for values
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
  found.push_back({"by the default passes, without prefetch", without("prefetch"), true});
  const bool has_loops = std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
    return instruction.find(AttrKey::kBody) != nullptr;
  });
  if (has_loops) {
    found.push_back({"by the default passes, with loop slices in on-chip memory", with_sliced(), true});
    found.push_back({"by the default passes, with loop slices prefetched one iteration ahead",
                     with_slices_ahead(), true});
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
    found.push_back({"unchanged but for its layouts", *parse_passes("spell-layouts,own-results,tile")});
  if (pipelined)
    for (Candidate& one : found) add_before(one.passes, "host-copies", "pipeline-host");
  found.push_back({kAsItStands, *parse_passes("own-results,tile")});
  return found;
}

using PassList = std::span<const Pass* const>;

/// With how many passes both begin.
size_t shared_start(PassList a, PassList b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool begins(PassList passes, PassList start) { return shared_start(passes, start) == start.size(); }

/// The device with each standard size of its on-chip memory, and what passes may ask for each of them.
struct Rooms {
  Rooms(const OpTable& table, const Device& device, const Stop* stop, const CompilerChoices& compiler)
      : devices(standard_memories(device)) {
    for (const Device& one : devices) contexts.push_back({table, one, stop, compiler});
  }
  std::vector<Device> devices;  // never empty
  std::vector<PassContext> contexts;
};

/// Makes the modules of the candidates one after the other, and again for each room. Passes with which
/// several of them begin run once, up to where they part. Passes before the first one that fills the chip run
/// once for all rooms for which they do the same: up to the first one that does something else in some room.
class CandidateModules {
 public:
  CandidateModules(const Module& module, std::span<const Candidate> all) : module_(module), all_(all) {}

  /// What follows is for this context. `later`: of the rooms that may follow.
  void enter(const PassContext& context, std::span<const PassContext> later) {
    context_ = &context, later_ = later;
    std::erase_if(kept_, [&](const Kept& one) { return !one.run.needs().same_with(context.device.config); });
  }

  /// The module of that candidate, and what its decisions need; nothing once `gives_up` returns true between
  /// passes. Requires: numbers rise from call to call.
  std::optional<std::pair<Module, RoomNeeds>> make(size_t number, const PassObserver& after,
                                                   const std::function<bool()>& gives_up = {}) {
    const PassList passes = all_[number].passes;
    const size_t shared = before_chip(all_[number]);
    const auto go_on = [&](PassRun& run, size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) {
        if (gives_up && gives_up()) return false;
        if (i < shared && passes[i]->asks_room)
          run_for_this_room(run, passes.first(i + 1), after);
        else
          run.go_on(passes.subspan(i, 1), after);
      }
      return true;
    };
    auto [run, done] = start_of(number);
    for (const size_t part : partings(number, done)) {
      if (!go_on(run, done, part)) return std::nullopt;
      done = part;
      if (all_compact_at(number, part)) run.compact();
      kept_.push_back({passes.first(part), run.branch()});
    }
    if (!go_on(run, done, passes.size())) return std::nullopt;
    RoomNeeds needs = run.needs();
    return std::pair(std::move(run).finish(), std::move(needs));
  }

 private:
  struct Kept {
    PassList passes;
    PassRun run;
    bool is_for_rooms = false;  // the next pass does something else in a later room
  };

  /// Runs the last one of `passes`. Where a later room can't begin with what comes out, but with what there
  /// was before, that is kept.
  void run_for_this_room(PassRun& run, PassList passes, const PassObserver& after) {
    const PassList before = passes.first(passes.size() - 1), last = passes.last(1);
    const bool is_kept =
        std::ranges::any_of(kept_, [&](const Kept& one) { return std::ranges::equal(one.passes, before); });
    if (later_.empty() || before.empty() || is_kept) return run.go_on(last, after);
    PassRun as_it_was = run.branch();
    run.go_on(last, after);
    const bool parts = std::ranges::any_of(later_, [&](const PassContext& room) {
      const DeviceConfig& config = room.device.config;
      return as_it_was.needs().same_with(config) && !run.needs().same_with(config);
    });
    if (parts) kept_.push_back({before, std::move(as_it_was), true});
  }

  /// From the longest start that is kept; what nothing later begins with is let go.
  std::pair<PassRun, size_t> start_of(size_t number) {
    const PassList passes = all_[number].passes;
    std::erase_if(kept_, [&](const Kept& one) { return !is_wanted(one, number); });
    auto longest = kept_.end();
    for (auto one = kept_.begin(); one != kept_.end(); ++one)
      if (begins(passes, one->passes) &&
          (longest == kept_.end() || one->passes.size() > longest->passes.size()))
        longest = one;
    if (longest == kept_.end()) return {PassRun(module_, *context_), 0};
    const size_t done = longest->passes.size();
    const bool again = is_wanted(*longest, number + 1);
    PassRun run = again ? longest->run.branch() : std::move(longest->run);
    if (!again) kept_.erase(longest);
    run.enter(*context_);
    return {std::move(run), done};
  }

  /// By candidates from that number on, or for another room.
  bool is_wanted(const Kept& one, size_t number) const {
    const bool here = std::ranges::any_of(
        all_.subspan(number), [&](const Candidate& later) { return begins(later.passes, one.passes); });
    return here || (!later_.empty() &&
                    (one.is_for_rooms || std::ranges::any_of(all_, [&](const Candidate& other) {
                       return begins(other.passes, one.passes) && before_chip(other) == one.passes.size();
                     })));
  }

  /// How many passes there are before the first one that fills the chip; 0: none does.
  static size_t before_chip(const Candidate& candidate) {
    const auto at = std::ranges::find_if(candidate.passes, [](const Pass* pass) { return pass->fills_chip; });
    return at == candidate.passes.end() ? 0 : static_cast<size_t>(at - candidate.passes.begin());
  }

  /// Behind how many of its passes, more than `done`, later candidates or other rooms go on otherwise; in
  /// ascending order.
  std::vector<size_t> partings(size_t number, size_t done) const {
    std::vector<size_t> found;
    for (const Candidate& later : all_.subspan(number + 1))
      if (const size_t alike = shared_start(all_[number].passes, later.passes); alike > done)
        found.push_back(alike);
    if (const size_t part = before_chip(all_[number]); !later_.empty() && part > done) found.push_back(part);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Whatever comes behind `part` of its passes begins with a compact module.
  bool all_compact_at(size_t number, size_t part) const {
    const PassList passes = all_[number].passes;
    return std::ranges::all_of(all_.subspan(number), [&](const Candidate& one) {
      if (shared_start(passes, one.passes) < part) return true;
      return one.passes.size() == part || one.passes[part]->asks_costs;
    });
  }

  const Module& module_;
  std::span<const Candidate> all_;
  const PassContext* context_ = nullptr;
  std::span<const PassContext> later_;
  std::vector<Kept> kept_;
};

/// A module and what it takes; kForever: it can't be simulated.
struct Timed {
  Module module;
  std::optional<Simulation> simulation;
  Picoseconds time() const { return simulation ? simulation->totals.makespan : kForever; }
};

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

/// Names of collectives that the TensorCore waits for, whatever stands between start and done. It scatters in
/// the
/// kernel that makes what it reduces, and waits for the end. Gathers that it drives go on beside products
/// where
/// these carry them. Between slices hosts send and add up, and no measured run hides that.
std::set<std::string, std::less<>> waited_for(const Module& module, const OpTable& table,
                                              const Device& device, const SimulateOptions& options,
                                              const CompilerChoices& compiler) {
  const DeviceConfig& config = device.config;
  const Offloads offloads(module, table);
  const bool scatters_apart = compiler.offload_reduce_scatters || offloads_reduce_scatters(config);
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

bool has_any_collective(const Module& module, const OpTable& table) {
  return std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    return table[instruction.opcode].has(kCollective);
  });
}

/// Lowers one module for a device, with each standard size of on-chip memory for its values.
class Lowerer {
 public:
  /// `pipelined`: loops read from the host's memory ahead and write behind.
  Lowerer(const Module& module, const OpTable& table, const Device& device, const SimulateOptions& options,
          const CompilerChoices& compiler, bool pipelined)
      : module_(module),
        table_(table),
        device_(device),
        options_(options),
        compiler_(compiler),
        rooms_(table, device, options.stop, compiler_),
        has_collectives_(has_any_collective(module, table)),
        candidates_(candidates(module, table, pipelined)),
        modules_(module, candidates_),
        known_(candidates_.size()) {
    options_.keep_timeline = false;
  }

  /// The fastest of what the sizes give, the first one among equals. `after` watches the default passes for
  /// the largest size. Sizes with which everything comes out as with a larger one are left out.
  Lowered fastest(const PassObserver& after, const std::function<bool()>& is_late) {
    std::optional<Outcome> best;
    std::vector<RoomNeeds> seen;
    for (size_t room = 0; room < rooms_.devices.size(); ++room) {
      if (best && (!options_.go_on() || best->lowered.cut)) break;
      const DeviceConfig& config = rooms_.devices[room].config;
      if (std::ranges::any_of(seen, [&](const RoomNeeds& one) { return one.same_with(config); })) continue;
      RoomNeeds needs(config);
      Outcome one =
          best ? within(room, best->time, {}, is_late, needs) : within(room, kForever, after, is_late, needs);
      seen.push_back(std::move(needs));
      const bool cut = one.lowered.cut;
      if (!best || one.time < best->time) best = std::move(one);
      best->lowered.cut = cut;
    }
    return std::move(best->lowered);
  }

 private:
  struct Outcome {
    Lowered lowered;
    Picoseconds time = kForever;
  };
  /// What a candidate takes at least, wherever its decisions are the same.
  struct Known {
    RoomNeeds needs;
    Picoseconds least;
  };

  /// What takes `least` or more however well its collectives are hidden is left with these as they are.
  /// Once `is_late` returns true no further candidate is tried; the result is `cut` then.
  Outcome within(size_t room, Picoseconds least, const PassObserver& after,
                 const std::function<bool()>& is_late, RoomNeeds& needs) {
    Outcome best = fastest_candidate(room, least, after, is_late, needs);
    best.lowered.cut = best.lowered.cut || (is_late && is_late());
    if (best.lowered.cut) return best;
    const Picoseconds exposed =
        best.lowered.simulation ? best.lowered.simulation->totals.exposed() : Picoseconds(0);
    if (options_.go_on() && (least == kForever || best.time - exposed < least))
      hide_collectives(best, rooms_.devices[room], needs);
    return best;
  }

  /// Where there are no collectives to hide, one that takes `least` or more is as good as any other one.
  Outcome fastest_candidate(size_t number, Picoseconds least, const PassObserver& after,
                            const std::function<bool()>& is_late, RoomNeeds& needs) {
    const Device& room = rooms_.devices[number];
    modules_.enter(rooms_.contexts[number], std::span(rooms_.contexts).subspan(number + 1));
    if (has_collectives_) least = kForever;
    std::optional<Outcome> best;
    const auto to_beat = [&] { return best ? std::min(best->time, least) : least; };
    bool cut = false;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      cut = best && is_late && is_late();
      if (cut) break;
      if (best && candidate.only_places && on_chip_memory(room.config).room() <= 0) continue;
      if (best && is_too_slow(i, room.config, to_beat(), needs)) continue;
      const PassObserver observer = best ? PassObserver() : after;
      const bool may_give_up = !best && module_.instructions.size() >= kGivesUpFrom;
      auto made = modules_.make(i, observer, may_give_up ? is_late : std::function<bool()>());
      if (!made) return as_it_stands();
      auto& [one, own_needs] = *made;
      needs.add(own_needs);
      if (best && same_schedule(one, best->lowered.module)) {
        known_[i].push_back({std::move(own_needs), best->time});
        continue;
      }
      Timed run = timed(std::move(one));
      known_[i].push_back({std::move(own_needs), run.time()});
      if (best && run.time() >= to_beat()) continue;
      const bool is_beaten = to_beat() != kForever && run.time() >= to_beat();
      if (candidate.how != kAsItStands && !is_beaten) run = made_to_fit(std::move(run), room, needs);
      if (!best && after) after(*default_passes().back(), run.module);
      if (best && run.time() >= best->time) continue;
      const Picoseconds time = run.time();
      best = Outcome{{std::move(run.module), candidate.how, std::move(run.simulation)}, time};
    }
    best->lowered.cut = cut;
    return std::move(*best);
  }

  /// There was no time for the first candidate, nor is there any for finding out what this one takes.
  Outcome as_it_stands() {
    auto made = modules_.make(candidates_.size() - 1, {});
    return {{std::move(made->first), kAsItStands, std::nullopt, true}, kForever};
  }

  /// `least` or more, as is known without making it.
  bool is_too_slow(size_t number, const DeviceConfig& room, Picoseconds least, RoomNeeds& needs) {
    for (const Known& known : known_[number]) {
      if (known.least < least || !known.needs.same_with(room)) continue;
      needs.add(known.needs);
      return true;
    }
    if (candidates_[number].how != kAsItStands || !is_slow_as_it_stands(least)) return false;
    known_[number].push_back({RoomNeeds(room), least});
    return true;
  }

  /// Nothing is fused, so that what each operation takes by itself mostly is too much already: that is known
  /// long before all of them are copied, simulated and given records.
  bool is_slow_as_it_stands(Picoseconds least) const {
    return !carries_tiles(module_) &&
           cost_unchanged(lay_out(module_, device_).module, table_, device_, {options_.custom_calls}, least);
  }

  Timed timed(Module module) const {
    Result<Simulation> simulation = simulate(module, table_, device_, options_);
    Timed one{std::move(module), {}};
    if (simulation) one.simulation = std::move(*simulation);
    return one;
  }

  /// The same with as much on the chip as there is room for.
  Timed made_to_fit(Timed one, const Device& room, RoomNeeds& needs) const {
    if (spill_overflow(one.module, table_, room.config, &needs) == 0) return one;
    return timed(compacted(std::move(one.module), table_));
  }

  /// An order with pairs of start and done; nothing: it hides nothing, or nothing is known of it.
  std::optional<LatencySchedule> order_with_pairs(const Module& module,
                                                  const LatencyScheduleOptions& scheduling) const {
    Result<LatencySchedule> scheduled = tune_schedule(module, table_, device_, scheduling);
    if (!scheduled) return std::nullopt;  // the slice doesn't hold the module's devices
    // Where nothing can be hidden there is no reason for pairs.
    const bool hides = std::ranges::any_of(scheduled->transfers, [](const ScheduledTransfer& transfer) {
      return transfer.before != transfer.start && transfer.exposed_after < transfer.duration;
    });
    if (!hides) scheduled->kept_input = true;
    return std::move(*scheduled);
  }

  /// Collectives that run as such become pairs of start and done with work between, in whatever came out.
  /// Where on-chip memory has too little room for the order that hides most, the faster of two: parts of the
  /// order, or all of it, with values moved back to HBM.
  void hide_collectives(Outcome& best, const Device& room, RoomNeeds& needs) const {
    Lowered& lowered = best.lowered;
    if (lowered.how == kAsItStands || !has_any_collective(lowered.module, table_)) return;
    LatencyScheduleOptions scheduling;
    scheduling.simulate = options_;
    scheduling.room = &room.config;
    // Both ways round a ring at a time (SpmdPartitionerOptions::bidirectional_windowed_einsum).
    scheduling.overlap_limit[static_cast<size_t>(AsyncKind::kPermute)] = 2;
    scheduling.whole = waited_for(lowered.module, table_, device_, options_, compiler_);
    std::optional<LatencySchedule> fitting = order_with_pairs(lowered.module, scheduling);
    if (!fitting) return;
    for (size_t space = 0; space < SpaceBytes::kCount; ++space)
      needs.needs(static_cast<int64_t>(space), fitting->room_needed[space]);
    const Module given = fitting->short_on_chip ? lowered.module.copy() : Module();
    best.time = fitting->time_before;
    if (!fitting->kept_input && fitting->time_after < best.time) {
      best.time = fitting->time_after;
      lowered.module = std::move(fitting->module);
      sink_allocations(lowered.module);
      lowered.simulation.reset();
    }
    if (fitting->short_on_chip) spill_for_order(best, given, scheduling, room);
  }

  /// All of the order, if that is faster.
  void spill_for_order(Outcome& best, const Module& given, LatencyScheduleOptions scheduling,
                       const Device& room) const {
    scheduling.fits_on_chip = false;
    std::optional<LatencySchedule> whole = order_with_pairs(given, scheduling);
    if (!whole || whole->kept_input || whole->time_after >= best.time) return;
    sink_allocations(whole->module);
    if (spill_overflow(whole->module, table_, room.config) > 0)
      whole->module = compacted(std::move(whole->module), table_);
    Timed one = timed(std::move(whole->module));
    if (one.time() >= best.time) return;
    best.time = one.time();
    best.lowered.module = std::move(one.module);
    best.lowered.simulation = std::move(one.simulation);
  }

  const Module& module_;
  const OpTable& table_;
  const Device& device_;
  SimulateOptions options_;
  const CompilerChoices& compiler_;
  const Rooms rooms_;
  const bool has_collectives_;
  const std::vector<Candidate> candidates_;
  CandidateModules modules_;
  std::vector<std::vector<Known>> known_;  // by candidate
};

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

/// Bytes of HBM that the module needs beyond what its order may take; 0: it fits.
int64_t beyond_hbm(const Module& module, const OpTable& table, const DeviceConfig& device) {
  const MemorySpace& hbm = device.hbm();
  const std::optional<Bytes> room = hbm.usable ? hbm.usable : hbm.capacity;
  if (!room) return 0;
  const Occupancy held = memory_occupancy(module, device, make_schedule(module, table).order);
  for (const SpaceOccupancy& space : held.spaces)
    if (space.number == kDefaultMemorySpace)
      return std::max<int64_t>(
          0, space.peak.count() -
                 static_cast<int64_t>(hbm.order_share.value_or(1) * static_cast<double>(room->count())));
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
                 const SimulateOptions& options, const PassObserver& after, const CompilerChoices& compiler,
                 const std::function<bool()>& is_late) {
  Lowered plain = Lowerer(module, table, device, options, compiler, false).fastest(after, is_late);
  if (plain.cut || compiler.overlapped_host_copies <= 1 || !options.go_on() ||
      !copies_in_loops(module, table))
    return plain;
  Lowered ahead = Lowerer(module, table, device, options, compiler, true).fastest({}, is_late);
  if (ahead.cut) return plain;
  spread_host_copies(ahead.module);
  ahead.simulation.reset();
  if (beyond_hbm(ahead.module, table, device.config) > 0) return plain;
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
