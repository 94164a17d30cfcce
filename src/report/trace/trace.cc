#include "report/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/saturating.h"
#include "report/report.h"
#include "sim/overlap.h"

namespace hlosim {
namespace {

class Builder {
 public:
  Builder(const Module& module, const OpTable& table, const Device& device, const Estimate& estimate,
          const TraceOptions& options)
      : module_(module),
        table_(table),
        device_(device.config),
        simulation_(*estimate.simulation),
        occupancy_(estimate.occupancy),
        options_(options),
        place_(module.instructions.size(), -1),
        done_of_(module.instructions.size()),
        driver_of_(module.instructions.size(), Unit::kNone),
        busy_(module.computations.size()) {
    trace_.name = fmt::format("{} on {}", module.name, device.config.name);
    trace_.makespan = simulation_.totals.makespan;
  }

  Trace build() {
    describe_instructions();
    name_tracks();
    for (const InstructionRecord& record : simulation_.instructions)
      if (const InstructionId start = start_of(record.id); start.valid()) done_of_[start] = record.id;
    trace_.shown_iterations = most_iterations();
    emit(module_.entry, Picoseconds(0));
    sort();
    clip_rests();
    count_memory();
    drop_empty_tracks();
    return std::move(trace_);
  }

 private:
  /// How long one execution keeps tracks busy, the TensorCore's left out.
  using TrackTimes = std::map<uint32_t, Picoseconds>;

  InstructionId start_of(InstructionId id) const {
    return simulation_.schedule.start_of.empty() ? InstructionId() : simulation_.schedule.start_of[id];
  }

  // ── instructions and tracks ──

  void describe_instructions() {
    for (size_t i = 0; i < simulation_.instructions.size(); ++i) {
      const InstructionRecord& record = simulation_.instructions[i];
      const Instruction& instruction = module_[record.id];
      place_[record.id] = static_cast<int32_t>(i);
      const InstructionCost& cost = simulation_.cost(record);
      TraceInstruction row{instruction.name, to_text(cost.category), {}};
      const auto text = [&](std::string_view key, std::string_view value) {
        if (!value.empty()) row.details.push_back({key, std::string(value), {}});
      };
      const auto number = [&](std::string_view key, int64_t value) {
        if (value != 0) row.details.push_back({key, {}, value});
      };
      text("opcode", to_text(instruction.opcode));
      text("op_name", op_name_of(instruction));
      text("bound by", record.bound_by == Unit::kNone ? std::string() : unit_name(device_, record.bound_by));
      number("executions", record.executions > 1 ? record.executions : 0);
      number("flops", cost.flops.count());
      for (size_t space = 0; space < device_.memory.size(); ++space) {
        const Traffic& traffic = cost.traffic[space];
        const std::string& name = device_.memory[space].name;
        if (traffic.read.count() > 0) row.details.push_back({kRead, name, traffic.read.count()});
        if (traffic.written.count() > 0) row.details.push_back({kWritten, name, traffic.written.count()});
      }
      trace_.instructions.push_back(std::move(row));
    }
  }
  static constexpr std::string_view kRead = "bytes read from", kWritten = "bytes written to";

  void name_tracks() {
    for (size_t lane = 0; lane < kLaneCount; ++lane)
      trace_.tracks.emplace_back(to_text(static_cast<Lane>(lane)));
    for (size_t unit = 0; unit < kUnitCount; ++unit) {
      track_of_unit_[unit] = static_cast<uint32_t>(trace_.tracks.size());
      const size_t space = unit - std::min(unit, index_of(Unit::kMemory));
      const bool exists = unit < index_of(Unit::kMemory) || space < device_.memory.size();
      trace_.tracks.push_back(exists ? unit_name(device_, static_cast<Unit>(unit)) : std::string());
    }
    // Links and PCIe are taken by one transfer after the other, whether somebody waits for it at once or not:
    // unit and lane are the same track.
    for (const UnitRow& row : unit_rows())
      for (uint32_t lane = 0; lane < kLaneCount; ++lane)
        if (trace_.tracks[lane] == row.name) track_of_unit_[index_of(row.unit)] = lane;
    for (const TransferRecord& transfer : simulation_.transfers)
      if (transfer.collective && transfer.start_instruction.valid())
        driver_of_[transfer.start_instruction] = transfer.collective->driver;
  }

  // ── how much of the loops ──

  /// Slices of one execution when each loop shows `most` iterations.
  int64_t events(ComputationId id, int64_t most, std::map<ComputationId, int64_t>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    const ComputationTimeline& timeline = simulation_.computations[id];
    int64_t count = 0;
    for (const Span& span : timeline.spans) count = saturating_add(count, 1 + units_of(span));
    for (const CalledRun& call : timeline.calls) {
      count = saturating_add(
          count, saturating_multiply(std::min(call.times, most), events(call.callee, most, known)));
      if (call.times > most) count = saturating_add(count, static_cast<int64_t>(busy_of(call.callee).size()));
    }
    return known[id] = count;
  }

  int64_t units_of(const Span& span) const {
    const int32_t at = place_[span.instruction];
    if (at >= 0 && span.lane != Lane::kTensorCore) return driver_of_[span.instruction] == Unit::kNone ? 0 : 1;
    if (at < 0) return 0;
    const UnitTimes& busy = simulation_.cost(simulation_.instructions[static_cast<size_t>(at)]).busy;
    return std::count_if(busy.begin(), busy.end(), [](Picoseconds time) { return time.count() > 0; });
  }

  /// 0: all.
  int64_t most_iterations() {
    const auto fits = [&](int64_t most) {
      std::map<ComputationId, int64_t> known;
      return events(module_.entry, most, known) <= options_.max_events;
    };
    int64_t longest = 1;
    for (const LoopRecord& loop : simulation_.loops) longest = std::max(longest, loop.trip_count);
    if (fits(longest)) return 0;
    int64_t low = 1, high = longest;  // one iteration is shown in any case
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  // ── slices ──

  void emit(ComputationId id, Picoseconds offset) {
    const ComputationTimeline& timeline = simulation_.computations[id];
    std::map<InstructionId, uint64_t> flows;  // of this execution, by start
    for (const Span& span : timeline.spans) {
      const Picoseconds start = later(offset, span.start), end = later(offset, span.end);
      TraceSlice slice{static_cast<uint32_t>(span.lane), place_[span.instruction], start, end, span.waiting};
      if (slice.instruction < 0) continue;
      add_flow(slice, span, flows);
      trace_.slices.push_back(slice);
      for_each_part(slice, span, [&](uint32_t track, Picoseconds begin, Picoseconds end_of_part) {
        trace_.slices.push_back({track, slice.instruction, begin, end_of_part});
      });
    }
    emit_calls(timeline, offset);
  }

  /// Calls stand in the order of their callers, and so do spans of the TensorCore.
  void emit_calls(const ComputationTimeline& timeline, Picoseconds offset) {
    auto caller = timeline.spans.begin();
    for (auto call = timeline.calls.begin(); call != timeline.calls.end();) {
      while (caller != timeline.spans.end() &&
             (caller->instruction != call->caller || caller->lane != Lane::kTensorCore))
        ++caller;
      if (caller == timeline.spans.end()) return;
      // A loop's condition comes before its body: what is left of the loop is one rest for both.
      const auto first = call;
      TrackTimes rest;
      for (; call != timeline.calls.end() && call->caller == first->caller; ++call) {
        emit_call(*caller, *call, offset);
        add_busy(rest, busy_of(call->callee), call->times - shown(*call));
      }
      if (shown(*first) < first->times) emit_rest(*caller, *first, offset, rest);
    }
  }

  void add_flow(TraceSlice& slice, const Span& span, std::map<InstructionId, uint64_t>& flows) {
    const InstructionId start =
        start_of(span.instruction).valid() ? start_of(span.instruction) : span.instruction;
    if (!done_of_[start].valid()) return;
    uint64_t& flow = flows[start];
    if (flow == 0) flow = ++last_flow_;
    slice.flow = flow;
    slice.role = span.lane != Lane::kTensorCore        ? FlowRole::kStep
                 : span.instruction == done_of_[start] ? FlowRole::kEnd
                                                       : FlowRole::kStart;
  }

  /// The units that an instruction keeps busy, from when its latencies are over: f(track, begin, end).
  template <class F>
  void for_each_unit(const TraceSlice& slice, F&& f) const {
    const InstructionCost& cost =
        simulation_.cost(simulation_.instructions[static_cast<size_t>(slice.instruction)]);
    const Picoseconds length = slice.end - slice.start;
    const OpDef& def =
        table_[module_[simulation_.instructions[static_cast<size_t>(slice.instruction)].id].opcode];
    if (slice.waiting || def.has(kAsyncDone)) return;
    for (size_t unit = 0; unit < kUnitCount; ++unit) {
      const Picoseconds busy = std::min(cost.busy[unit], length);
      if (busy.count() == 0 || trace_.tracks[track_of_unit_[unit]].empty()) continue;
      // What has to wait for its lane begins late: its units work at the end.
      const Picoseconds begin = length - cost.time() > Picoseconds(0)
                                    ? slice.end - std::min(length, std::max(busy, cost.stream))
                                    : slice.start + std::min(cost.fixed, length - busy);
      f(track_of_unit_[unit], begin, begin + busy);
    }
  }

  /// All that a span is on other tracks than the TensorCore's: f(track, begin, end).
  template <class F>
  void for_each_part(const TraceSlice& slice, const Span& span, F&& f) const {
    if (span.lane == Lane::kTensorCore)
      for_each_unit(slice, f);
    else if (const Unit driver = driver_of_[span.instruction]; driver != Unit::kNone)
      f(track_of_unit_[index_of(driver)], slice.start, slice.end);
  }

  int64_t shown(const CalledRun& call) const {
    return trace_.shown_iterations == 0 ? call.times : std::min(call.times, trace_.shown_iterations);
  }

  void emit_call(const Span& caller, const CalledRun& call, Picoseconds offset) {
    const Picoseconds begin = later(offset, later(caller.start, call.offset));
    for (int64_t i = 0; i < shown(call); ++i) emit(call.callee, later(begin, times(call.period, i)));
  }

  /// The iterations of a loop that are not shown: one slice on the TensorCore, and one on each track that
  /// they keep busy.
  void emit_rest(const Span& caller, const CalledRun& call, Picoseconds offset, const TrackTimes& busy) {
    const Picoseconds first = later(offset, later(caller.start, call.offset)),
                      end = later(offset, caller.end);
    TraceSlice rest{static_cast<uint32_t>(Lane::kTensorCore), place_[call.caller],
                    std::min(end, later(first, times(call.period, shown(call)))), end};
    rest.first_hidden = shown(call) + 1;
    trace_.slices.push_back(rest);
    for (const auto& [track, time] : busy) {
      rest.track = track;
      rest.busy = std::min(time, rest.end - rest.start);
      if (rest.busy.count() > 0) trace_.slices.push_back(rest);
    }
  }

  // ── what is not shown ──

  static void add_busy(TrackTimes& into, const TrackTimes& more, int64_t count) {
    if (count <= 0) return;
    for (const auto& [track, time] : more) into[track] = later(into[track], times(time, count));
  }

  const TrackTimes& busy_of(ComputationId id) {
    std::optional<TrackTimes>& known = busy_[id];
    if (known) return *known;
    TrackTimes busy;
    const ComputationTimeline& timeline = simulation_.computations[id];
    for (const Span& span : timeline.spans) {
      const TraceSlice slice{static_cast<uint32_t>(span.lane), place_[span.instruction], span.start, span.end,
                             span.waiting};
      if (slice.instruction < 0) continue;
      if (span.lane != Lane::kTensorCore) busy[slice.track] += span.end - span.start;
      for_each_part(slice, span, [&](uint32_t track, Picoseconds begin, Picoseconds end) {
        busy[track] = later(busy[track], end - begin);
      });
    }
    for (const CalledRun& call : timeline.calls) add_busy(busy, busy_of(call.callee), call.times);
    return busy_[id].emplace(std::move(busy));
  }

  /// A loop's rest begins when what its lane carried before has ended.
  void clip_rests() {
    uint32_t track = 0;
    Picoseconds last{};
    for (TraceSlice& slice : trace_.slices) {
      if (slice.track != track) track = slice.track, last = Picoseconds(0);
      if (slice.first_hidden > 0 && slice.track != 0 && slice.start < last && last < slice.end) {
        slice.start = last;
        slice.busy = std::min(slice.busy, slice.end - slice.start);
      }
      last = std::max(last, slice.end);
    }
    sort();
  }

  /// By track and time, outer slices before inner ones.
  void sort() {
    std::stable_sort(trace_.slices.begin(), trace_.slices.end(),
                     [](const TraceSlice& a, const TraceSlice& b) {
                       if (a.track != b.track) return a.track < b.track;
                       if (a.start != b.start) return a.start < b.start;
                       return a.end > b.end;
                     });
  }

  // ── memory ──

  /// Who asks for few slices wants a small file: no more points than that, either.
  void count_memory() {
    const int64_t most = std::max(std::min(options_.max_points, options_.max_events),
                                  static_cast<int64_t>(occupancy_.steps.size()));
    std::vector<MemoryCurve> curves = memory_curves(module_, simulation_, occupancy_, most);
    for (size_t i = 0; i < curves.size(); ++i) {
      const SpaceOccupancy& space = occupancy_.spaces[i];
      trace_.counters.push_back(
          {fmt::format("{}S({})", space.space ? space.space->name + " " : "", space.number), space.number,
           std::move(curves[i])});
    }
  }

  void drop_empty_tracks() {
    std::vector<uint32_t> place(trace_.tracks.size(), UINT32_MAX);
    for (const TraceSlice& slice : trace_.slices) place[slice.track] = 0;
    std::vector<std::string> kept;
    for (size_t i = 0; i < place.size(); ++i) {
      if (place[i] == UINT32_MAX) continue;
      place[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(trace_.tracks[i]));
    }
    trace_.tracks = std::move(kept);
    for (TraceSlice& slice : trace_.slices) slice.track = place[slice.track];
  }

  const Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  const Simulation& simulation_;
  const Occupancy& occupancy_;
  const TraceOptions& options_;
  Trace trace_;
  IdMap<InstructionId, int32_t> place_;  // in trace_.instructions; -1: no record
  IdMap<InstructionId, InstructionId> done_of_;
  IdMap<InstructionId, Unit> driver_of_;  // of a transfer beside the TensorCore, by its start
  IdMap<ComputationId, std::optional<TrackTimes>> busy_;
  std::array<uint32_t, kUnitCount> track_of_unit_{};
  uint64_t last_flow_ = 0;
};

}  // namespace

Trace make_trace(const OpTable& table, const Device& device, const Estimate& estimate,
                 const TraceOptions& options) {
  HLOSIM_CHECK(!estimate.simulation->computations.empty(), "module {} ran without keep_timeline",
               estimate.module->name);
  Trace trace = Builder(*estimate.module, table, device, estimate, options).build();
  trace.module = estimate.module;
  return trace;
}

double TraceSlice::share() const {
  return busy.count() == 0 || end <= start
             ? 1
             : static_cast<double>(busy.count()) / static_cast<double>((end - start).count());
}

std::string slice_name(const Trace& trace, const TraceSlice& slice) {
  const std::string_view name = trace.instructions[static_cast<size_t>(slice.instruction)].name;
  if (slice.first_hidden > 0)
    return fmt::format("{}: iterations from {} on{}", name, slice.first_hidden,
                       slice.busy.count() > 0 ? fmt::format(", {:.0f} % busy", 100 * slice.share()) : "");
  if (slice.waiting) return fmt::format("{} (waiting)", name);
  return std::string(name);
}

}  // namespace hlosim
