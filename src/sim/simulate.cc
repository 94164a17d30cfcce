#include "sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>

#include "base/saturating.h"
#include "base/stop.h"
#include "hlo/graph.h"
#include "interconnect/collective_costs.h"
#include "interconnect/offload.h"
#include "model/fused_collectives.h"
#include "model/memory_system.h"
#include "model/native_layouts.h"
#include "model/provenances.h"
#include "ops/infer.h"
#include "sim/computation_run.h"
#include "sim/overlap.h"
#include "sim/resimulation.h"

namespace hlosim {

Result<void> SimulateOptions::go_on() const {
  if (stop && stop->asked()) return failure(stop->why());
  return {};
}

std::string_view to_text(TransferKind kind) {
  constexpr std::string_view kNames[] = {"copy", "collective", "host transfer", "computation"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

/// Of copies, loops and the units that transfers keep busy.
TransferProvenances transfer_provenances(const Device& device, const MemorySystem& memory) {
  Provenances keys(device);
  TransferProvenances all;
  TimeKeySet of_copies{TimeKey::kReadLatency, TimeKey::kWriteLatency, TimeKey::kOutstanding};
  of_copies.add(unit_keys(device.config, memory.unit_of(memory.hbm())));
  all.copy = keys.weakest(of_copies);
  all.loop = keys.weakest({TimeKey::kLoopIteration});
  for (const UnitRow& row : unit_rows())
    if (row.place == UnitPlace::kBeside) all.units[index_of(row.unit)] = keys.of_section(row.unit);
  return all;
}

/// How often a computation runs as control flow, and when first.
struct Executions {
  int64_t count = 0;
  Picoseconds first = kForever;
  int depth = 0;
  bool reached = false;
};

/// Puts the runs of all computations together, with how often each was executed.
class Assembly {
 public:
  Assembly(const Module& module, std::vector<ComputationId> callers_first,
           IdMap<ComputationId, ComputationRun>& runs, const std::vector<CalledRun>& calls)
      : module_(module),
        callers_first_(std::move(callers_first)),
        runs_(runs),
        executions_(module.computations.size()) {
    for (const CalledRun& call : calls)
      if (!call.beside) calls_by_caller_.push_back(call);
    std::stable_sort(calls_by_caller_.begin(), calls_by_caller_.end(),
                     [&](const CalledRun& a, const CalledRun& b) { return parent(a) < parent(b); });
  }

  void assemble(Simulation& result, bool keep_timeline) {
    executions_[module_.entry] = {1, Picoseconds(0), 0, true};
    if (keep_timeline)
      result.computations = IdMap<ComputationId, ComputationTimeline>(module_.computations.size());
    for (const ComputationId id : callers_first_) {
      if (!executions_[id].reached) continue;
      count_callees(id);
      emit(id, result);
    }
    sort_by_time(result);
    name_those_ahead(result.transfers);
    if (keep_timeline) build_timeline(result.timeline);
  }

 private:
  struct NestedSpan {
    Span span;
    int depth = 0;
  };

  ComputationId parent(const CalledRun& call) const { return module_[call.caller].parent; }

  /// Those of one computation, by the order of its instructions.
  std::span<const CalledRun> calls_of(ComputationId id) const {
    const auto before = [&](const CalledRun& call, ComputationId wanted) { return parent(call) < wanted; };
    const auto first = std::lower_bound(calls_by_caller_.begin(), calls_by_caller_.end(), id, before);
    auto last = first;
    while (last != calls_by_caller_.end() && parent(*last) == id) ++last;
    return {first, last};
  }

  void count_callees(ComputationId id) {
    const std::span<const CalledRun> calls = calls_of(id);
    if (calls.empty()) return;
    IdMap<InstructionId, int32_t>& place = record_of(id);
    for (auto at = calls.begin(); at != calls.end(); ++at) {
      Executions& callee = executions_[at->callee];
      callee.reached = true;
      callee.depth = std::max(callee.depth, executions_[id].depth + 1);
      callee.count = saturating_add(callee.count, saturating_multiply(executions_[id].count, at->times));
      if (at->times == 0 || executions_[id].count == 0) continue;
      const InstructionRecord& caller = runs_[id].instructions[static_cast<size_t>(place[at->caller])];
      callee.first = std::min(callee.first, later(executions_[id].first, later(caller.start, at->offset)));
    }
  }

  /// Where the callers of one computation stand in its records.
  IdMap<InstructionId, int32_t>& record_of(ComputationId id) {
    if (places_.empty()) places_ = IdMap<InstructionId, int32_t>(module_.instructions.size(), -1);
    for (size_t i = 0; i < runs_[id].instructions.size(); ++i)
      places_[runs_[id].instructions[i].id] = static_cast<int32_t>(i);
    return places_;
  }

  /// Puts the records of one computation behind those of others; returns where.
  size_t take_records(std::vector<InstructionRecord>& from, std::vector<InstructionRecord>& all) const {
    const size_t first = all.size();
    if (first > 0) {
      all.insert(all.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
      return first;
    }
    size_t records = 0;  // in all
    for (const ComputationRun& one : runs_) records += one.instructions.size();
    all = std::move(from);
    all.reserve(records);
    return 0;
  }

  void emit(ComputationId id, Simulation& result) {
    ComputationRun& run = runs_[id];
    const size_t first_record = take_records(run.instructions, result.instructions);
    const Executions& executions = executions_[id];
    const Picoseconds offset = executions.count == 0 ? Picoseconds(0) : executions.first;
    const auto first_transfer = static_cast<int32_t>(result.transfers.size());
    const auto scale = [&](Picoseconds& time) { time = times(time, executions.count); };
    for (InstructionRecord& record : std::span(result.instructions).subspan(first_record)) {
      record.executions = executions.count;
      record.start = later(record.start, offset);
      scale(record.time), scale(record.self_time), scale(record.exposed);
      if (record.waited_for >= 0) record.waited_for += first_transfer;
    }
    for (TransferRecord& transfer : run.transfers) {
      transfer.executions = executions.count;
      for (Picoseconds* time : {&transfer.start, &transfer.begin, &transfer.end, &transfer.done})
        *time = later(*time, offset);
      result.transfers.push_back(std::move(transfer));
    }
    if (executions.count == 0) return;
    for (Span span : run.spans) {
      span.start = later(span.start, offset), span.end = later(span.end, offset);
      spans_.push_back({span, executions.depth});
    }
    if (run.spans.empty()) return;
    ComputationTimeline& timeline = result.computations[id];
    timeline.executions = executions.count;
    timeline.spans = std::move(run.spans);
    for (const CalledRun& call : calls_of(id)) timeline.calls.push_back(call);
  }

  /// Stable: a caller comes before what it calls at the same time.
  static void sort_by_time(Simulation& result) {
    const auto never_last = [](const auto& record) {
      return record.executions == 0 ? kForever : record.start;
    };
    if (!std::is_sorted(result.instructions.begin(), result.instructions.end(),
                        [&](const auto& a, const auto& b) { return never_last(a) < never_last(b); }))
      std::stable_sort(result.instructions.begin(), result.instructions.end(),
                       [&](const auto& a, const auto& b) { return never_last(a) < never_last(b); });
    std::vector<int32_t> order(result.transfers.size()), place(result.transfers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return never_last(result.transfers[static_cast<size_t>(a)]) <
             never_last(result.transfers[static_cast<size_t>(b)]);
    });
    std::vector<TransferRecord> sorted;
    sorted.reserve(order.size());
    for (const int32_t i : order) {
      place[static_cast<size_t>(i)] = static_cast<int32_t>(sorted.size());
      sorted.push_back(std::move(result.transfers[static_cast<size_t>(i)]));
    }
    result.transfers = std::move(sorted);
    for (InstructionRecord& record : result.instructions)
      if (record.waited_for >= 0) record.waited_for = place[static_cast<size_t>(record.waited_for)];
  }

  /// Who has to queue begins when the last one ahead of it in its lane ends.
  static void name_those_ahead(std::vector<TransferRecord>& transfers) {
    std::map<std::pair<Lane, Picoseconds>, int32_t> ended;
    for (size_t i = 0; i < transfers.size(); ++i) {
      TransferRecord& transfer = transfers[i];
      if (transfer.executions == 0) continue;
      const auto ahead = ended.find({transfer.lane, transfer.begin});
      if (transfer.queued.count() > 0 && ahead != ended.end()) transfer.ahead = ahead->second;
      ended[{transfer.lane, transfer.end}] = static_cast<int32_t>(i);
    }
  }

  /// The deepest span is what really happens; its callers get what is left of theirs.
  void build_timeline(Timeline& timeline) {
    std::stable_sort(spans_.begin(), spans_.end(), [](const NestedSpan& a, const NestedSpan& b) {
      return a.span.start != b.span.start ? a.span.start < b.span.start : a.depth < b.depth;
    });
    std::array<Picoseconds, kLaneCount> end{};
    std::vector<NestedSpan> open;  // spans of the TensorCore around the present one
    const auto add = [&](Span span) {
      Picoseconds& last = end[static_cast<size_t>(span.lane)];
      span.start = std::max(span.start, last);
      if (span.start >= span.end) return;
      last = span.end;
      timeline.add(span);
    };
    const auto close_until = [&](Picoseconds time) {
      while (!open.empty() && open.back().span.end <= time) add(open.back().span), open.pop_back();
    };
    for (const NestedSpan& nested : spans_) {
      if (nested.span.start == nested.span.end) continue;
      if (nested.span.lane != Lane::kTensorCore) {
        add(nested.span);
        continue;
      }
      close_until(nested.span.start);
      if (!open.empty() && open.back().span.start < nested.span.start) {
        Span part = open.back().span;
        part.end = nested.span.start;
        add(part);
      }
      open.push_back(nested);
    }
    close_until(kForever);
  }

  const Module& module_;
  std::vector<ComputationId> callers_first_;
  IdMap<ComputationId, ComputationRun>& runs_;
  IdMap<ComputationId, Executions> executions_;
  std::vector<CalledRun> calls_by_caller_;
  IdMap<InstructionId, int32_t> places_;
  std::vector<NestedSpan> spans_;
};

void conclude(Totals& totals, const DeviceConfig& device) {
  totals.cycles = cycles_in(totals.makespan, device.clock);
  Unit longest = Unit::kNone;
  Picoseconds most{};
  const auto offer = [&](Unit unit, Picoseconds time) {
    if (time > most) most = time, longest = unit;
  };
  for (size_t i = 0; i < kUnitCount; ++i) {
    // Rounding up to whole picoseconds can add a few.
    totals.busy[i] = std::min(totals.busy[i], totals.makespan);
    totals.lower_bound = std::max(totals.lower_bound, totals.busy[i]);
    offer(static_cast<Unit>(i), totals.by_bound[i]);
  }
  offer(Unit::kOverhead, totals.overhead);
  offer(Unit::kWait, totals.idle);
  totals.bound_by = longest;
}

/// The grid and the slice of a run.
Result<void> place(const Module& module, const OpTable& table, const Device& device,
                   const SimulateOptions& options, DeviceGrid& grid, Slice& slice,
                   AssumptionList& assumptions) {
  auto found = device_grid(module, table);
  if (!found) return tl::unexpected(std::move(found.error()));
  grid = *found;
  auto chosen = choose_slice(device.config, options.slice, grid.devices(), assumptions);
  if (!chosen) return tl::unexpected(std::move(chosen.error()));
  slice = std::move(*chosen);
  if (!options.slice.topology && !options.slice.devices && grid.devices() > 1)
    assumptions.add(fmt::format("no slice is specified: assumed to be {}", slice.text()));
  if ((options.slice.topology || options.slice.devices) && grid.devices() < slice.devices())
    assumptions.add(fmt::format("the module runs on {} of the {} devices of the slice; the others are idle",
                                grid.devices(), slice.devices()));
  return {};
}

/// Runs the computations that the schedule has; `ran` gets them in that order.
Result<IdMap<ComputationId, ComputationRun>> run_all(const RunContext& context,
                                                     std::span<const ComputationId> callees_first,
                                                     RunSinks& sinks, std::vector<ComputationId>& ran) {
  IdMap<ComputationId, ComputationRun> runs(context.module.computations.size());
  for (const ComputationId id : callees_first) {
    if (context.schedule.order[id].empty()) continue;
    if (Result<void> go_on = context.options.go_on(); !go_on) return tl::unexpected(std::move(go_on.error()));
    auto run = run_computation(context, id, runs, sinks);
    if (!run) return tl::unexpected(std::move(run.error()));
    runs[id] = std::move(*run);
    ran.push_back(id);
  }
  return runs;
}

}  // namespace

Result<Simulation> simulate(const Module& module, const OpTable& table, const Device& device,
                            const SimulateOptions& options) {
  AssumptionList assumptions;
  if (Result<void> go_on = options.go_on(); !go_on) return tl::unexpected(std::move(go_on.error()));
  auto costs = cost_instructions(module, table, device, {options.custom_calls}, assumptions);
  if (!costs) return tl::unexpected(costs.error());
  return simulate(module, table, device, options, std::move(*costs), assumptions);
}

Result<Simulation> simulate(const Module& module, const OpTable& table, const Device& device,
                            const SimulateOptions& options, InstructionCosts costs,
                            const AssumptionList& of_costs) {
  Simulation result;
  if (Result<void> go_on = options.go_on(); !go_on) return tl::unexpected(std::move(go_on.error()));
  if (Result<void> placed =
          place(module, table, device, options, result.grid, result.slice, result.assumptions);
      !placed)
    return tl::unexpected(std::move(placed.error()));
  result.assumptions.add_all(of_costs);
  result.schedule = make_schedule(module, table);
  if (!result.schedule.given)
    result.assumptions.add("the module is not scheduled: instructions run in the order of the text");
  if (device.config.cores > 1)
    result.assumptions.add(
        fmt::format("the {} cores of one device share every instruction evenly", device.config.cores));

  const MemorySystem memory(device.config);
  ShapePool shapes = module.shapes().copy();
  const Offloads offloads(module, table);
  const FusedCollectives fused(module, table);
  CollectiveCosts collectives(device.config, result.slice, result.grid);
  const RunContext context{module,       shapes,
                           table,        device.config,
                           options,      memory,
                           offloads,     fused,
                           costs,        result.schedule,
                           result.slice, result.grid,
                           collectives,  transfer_provenances(device, memory)};
  std::vector<CalledRun> calls;
  RunSinks sinks{result.assumptions, result.loops, calls};
  std::vector<ComputationId> order;
  auto runs = run_all(context, callees_first(module), sinks, order);
  if (!runs) return tl::unexpected(std::move(runs.error()));
  result.totals = (*runs)[module.entry].totals;
  for (const ComputationRun& run : *runs)
    for (const auto& [id, cost] : run.costs) costs.set(id, cost);
  result.costs = std::make_shared<const InstructionCosts>(std::move(costs));
  std::reverse(order.begin(), order.end());
  Assembly(module, std::move(order), *runs, calls).assemble(result, options.keep_timeline);
  conclude(result.totals, device.config);
  return result;
}

Result<std::unique_ptr<Resimulation>> Resimulation::make(Module& module, const OpTable& table,
                                                         const Device& device,
                                                         const SimulateOptions& options) {
  std::unique_ptr<Resimulation> made(new Resimulation(module, table, device, options));
  made->options_.keep_timeline = false;
  AssumptionList ignored;
  if (Result<void> placed = place(module, table, device, options, made->grid_, made->slice_, ignored);
      !placed)
    return tl::unexpected(std::move(placed.error()));
  made->collectives_ = std::make_unique<CollectiveCosts>(device.config, made->slice_, made->grid_);
  made->callees_first_ = callees_first(module);
  return made;
}

Result<Totals> Resimulation::run(const InstructionCosts& costs, bool other_bodies) {
  const Schedule schedule = make_schedule(module_, table_);
  const MemorySystem memory(device_.config);
  if (other_bodies) fused_.emplace(module_, table_);
  RunContext context{module_,       module_.shapes(),
                     table_,        device_.config,
                     options_,      memory,
                     offloads_,     *fused_,
                     costs,         schedule,
                     slice_,        grid_,
                     *collectives_, transfer_provenances(device_, memory)};
  context.keeps_records = false;
  AssumptionList ignored;
  std::vector<LoopRecord> loops;
  std::vector<CalledRun> calls;
  RunSinks sinks{ignored, loops, calls};
  std::vector<ComputationId> ran;
  auto runs = run_all(context, callees_first_, sinks, ran);
  if (!runs) return tl::unexpected(std::move(runs.error()));
  return (*runs)[module_.entry].totals;
}

}  // namespace hlosim
