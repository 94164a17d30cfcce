#include "sim/computation_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "interconnect/collective_driver.h"
#include "model/fused_collectives.h"
#include "model/memory_system.h"
#include "modules/trip_count.h"
#include "ops/infer.h"
#include "sim/overlap.h"
#include "sim/transfer_plan.h"

namespace hlosim {
namespace {

constexpr size_t kIciUnit = index_of(Unit::kIci);
constexpr size_t kHostUnit = index_of(Unit::kHost);

void add_times(Picoseconds& into, Picoseconds time, int64_t count) { into = later(into, times(time, count)); }

void add_bytes(Bytes& into, Bytes bytes, int64_t count) {
  add_bytes(into, Bytes(saturating_multiply(bytes.count(), count)));
}

/// Operations and bytes of `count` times the work: an instruction's cost, or the totals of a computation.
template <class Work>
void add_counts(Totals& totals, const Work& work, int64_t count) {
  const auto add = [&](int64_t& into, int64_t more) {
    into = saturating_add(into, saturating_multiply(more, count));
  };
  totals.flops = Flops(saturating_add(totals.flops.count(), saturating_multiply(work.flops.count(), count)));
  add(totals.vector_operations, work.vector_operations);
  add(totals.transcendentals, work.transcendentals);
  for (size_t i = 0; i < work.traffic.size(); ++i) {
    add_bytes(totals.traffic[i].read, work.traffic[i].read, count);
    add_bytes(totals.traffic[i].written, work.traffic[i].written, count);
  }
  add_bytes(totals.logical_bytes, work.logical_bytes, count);
  add_bytes(totals.padded_bytes, work.padded_bytes, count);
}

constexpr size_t kStepsBetweenStops = 1024;

class Runner {
 public:
  Runner(const RunContext& context, const IdMap<ComputationId, ComputationRun>& done, RunSinks& sinks)
      : c_(context), done_(done), sinks_(sinks) {}

  Result<ComputationRun> run(ComputationId id) {
    const std::vector<InstructionId>& order = c_.schedule.order[id];
    if (c_.keeps_records) run_.instructions.reserve(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      if (i % kStepsBetweenStops == 0)
        if (auto stopped = c_.options.go_on(); !stopped) return tl::unexpected(std::move(stopped.error()));
      if (auto failed = step(order[i], id); !failed) return tl::unexpected(std::move(failed.error()));
    }
    finish_transfers();
    run_.totals.makespan = overlap_.now();
    run_.hbm_work = run_.totals.busy[index_of(c_.memory.unit_of(c_.memory.hbm()))];
    add_transfer_spans();
    return std::move(run_);
  }

 private:
  // ── one instruction ──

  Result<void> step(InstructionId id, ComputationId computation) {
    const Instruction& instruction = c_.module[id];
    const OpDef& def = c_.table[instruction.opcode];
    if (def.has(kAsyncUpdate) || (def.has(kFree) && !def.has(kAsyncDone))) return {};
    InstructionRecord record;
    record.id = id;
    record.computation = computation;
    record.executions = 1;
    record.start = overlap_.now();
    cost_ = &c_.costs[id];
    Result<void> outcome;
    if (def.has(kAsyncDone)) {
      finish(id, record);
    } else if (def.has(kAsyncStart)) {
      outcome = start(id, record);
    } else if (def.has(kCallsInline)) {
      call(id, instruction, record);
    } else if (def.has(kCollective)) {
      outcome = collective(id, instruction, record);
    } else if (const std::span<const FusedCollective> inside = c_.fused.of(instruction); !inside.empty()) {
      outcome = fused(id, instruction, inside, record);
    } else {
      compute(record, cost_->stream, hbm_work(*cost_), 1);
    }
    if (!outcome) return outcome;
    record.time = overlap_.now() - record.start;
    record.self_time = record.time - std::min(record.time, called_time_);
    account(record);
    called_time_ = called_overhead_ = Picoseconds(0);
    called_ = false;
    const bool waits = record.time.count() > 0 && record.exposed == record.time;
    if (c_.options.keep_timeline && (record.time.count() > 0 || def.has(kAsyncStart) || def.has(kAsyncDone)))
      run_.spans.push_back({id, Lane::kTensorCore, record.start, overlap_.now(), waits});
    if (!c_.keeps_records) return {};
    run_.instructions.push_back(record);
    if (cost_ == &changed_cost_) run_.costs.emplace_back(id, changed_cost_);
    return {};
  }

  /// The cost of the instruction at hand, to be changed.
  InstructionCost& change_cost() {
    if (cost_ != &changed_cost_) changed_cost_ = *cost_, cost_ = &changed_cost_;
    return changed_cost_;
  }

  Picoseconds hbm_work(const InstructionCost& cost) const {
    return cost.busy[index_of(c_.memory.unit_of(c_.memory.hbm()))];
  }

  /// Latencies, then the stream; links and PCIe are taken one transfer after the other.
  void compute(InstructionRecord& record, Picoseconds stream, Picoseconds work, int64_t count) {
    ReplayStep step;
    step.drains_links = cost_->busy[kIciUnit].count() > 0;
    step.drains_host = cost_->busy[kHostUnit].count() > 0;
    step.fixed = cost_->fixed, step.stream = stream, step.hbm_work = work;
    perform(step, tickets_, record);
    add_work(*cost_, count);
    run_.steps.push_back(step);
  }

  // ── what a step does to time ──

  /// `tickets`: of the starts of the computation that the step belongs to, in their order.
  void perform(const ReplayStep& step, std::vector<size_t>& tickets, InstructionRecord& record) {
    if (step.drains_links) drain_links(record);
    if (step.drains_host) drain(Lane::kHost, record);
    switch (step.kind) {
      case ReplayStep::Kind::kWork:
        overlap_.pass(step.fixed);
        return overlap_.run(step.stream, step.hbm_work);
      case ReplayStep::Kind::kStart:
        if (step.lane == Lane::kDmaIn || step.lane == Lane::kDmaOut) make_room(step.lane, record);
        overlap_.pass(step.fixed);
        overlap_.run(step.stream, Picoseconds(0));
        tickets.push_back(overlap_.start(step.lane, step.latency, step.transfer, step.demand, step.links));
        transfer_of_ticket_.push_back(kNoRecord);
        return;
      case ReplayStep::Kind::kWait:
        return wait(tickets[static_cast<size_t>(step.which)], record);
      case ReplayStep::Kind::kCall:
        overlap_.pass(step.fixed);
        return run_callees(step, record);
    }
  }

  /// dma.outstanding copies per direction and core: a further one waits for the first.
  void make_room(Lane lane, InstructionRecord& record) {
    const auto limit = static_cast<size_t>(Core(c_.device).transfers_in_flight());
    while (overlap_.in_flight(lane) >= limit) wait(overlap_.first_in_flight(lane), record);
  }

  /// While nothing else is in flight, each time takes as long as it takes alone. Otherwise what is in flight
  /// changes and is changed; but as long as no transfer of the caller begins or ends, all times are alike.
  void run_callees(const ReplayStep& step, InstructionRecord& record) {
    for (int64_t done = 0; done < step.times; ++done) {
      if (overlap_.idle() && !c_.options.every_iteration) {
        overlap_.pass(times(alone(step), step.times - done));
        return;
      }
      const Overlap::State before = overlap_.state();
      for (const ComputationId callee : step.callees)
        if (callee.valid()) replay(done_[callee], record);
      overlap_.pass(step.between);
      if (c_.options.every_iteration || done + 2 >= step.times) continue;
      const int64_t more = std::min(overlap_.repeats(before), step.times - done - 1);
      if (more > 0) overlap_.repeat(before, more);
      done += more;
    }
  }

  Picoseconds alone(const ReplayStep& step) const {
    Picoseconds time = step.between;
    for (const ComputationId callee : step.callees)
      if (callee.valid()) time = later(time, done_[callee].totals.makespan);
    return time;
  }

  void replay(const ComputationRun& run, InstructionRecord& record) {
    std::vector<size_t> tickets;
    for (const ReplayStep& step : run.steps) perform(step, tickets, record);
  }

  /// Waits until nothing of the lane is in flight.
  void drain(Lane lane, InstructionRecord& record) {
    while (overlap_.in_flight(lane) > 0) wait(overlap_.first_in_flight(lane), record);
  }

  void drain_links(InstructionRecord& record) {
    drain(Lane::kIci, record);
    drain(Lane::kIciBeside, record);
  }

  void wait(size_t ticket, InstructionRecord& record) {
    const Picoseconds from = overlap_.now();
    overlap_.wait_for(ticket);
    const Picoseconds waited = overlap_.now() - from;
    if (waited.count() == 0) return;
    const size_t transfer = transfer_of_ticket_[ticket];
    if (transfer == kNoRecord) return;  // of a computation that is called: counted there
    run_.transfers[transfer].exposed += waited;
    record.exposed += waited;
    record.waited_for = static_cast<int32_t>(transfer);
    expose(run_.transfers[transfer], waited);
  }

  void expose(const TransferRecord& transfer, Picoseconds waited) {
    Totals& totals = run_.totals;
    totals.idle += waited;
    (transfer.kind == TransferKind::kCopy         ? totals.exposed_copies
     : transfer.kind == TransferKind::kCollective ? totals.exposed_collectives
                                                  : totals.exposed_others) += waited;
    totals.by_provenance[static_cast<size_t>(provenance_of(transfer))] += waited;
  }

  Provenance provenance_of(const TransferRecord& transfer) const {
    const Provenance own = is_of_links(transfer.lane)     ? c_.provenance_of(Unit::kIci)
                           : transfer.lane == Lane::kHost ? c_.provenance_of(Unit::kHost)
                                                          : c_.provenances.copy;
    const std::optional<CollectiveCost>& cost = transfer.collective;
    return cost && cost->driving > cost->network ? std::max(own, c_.provenance_of(cost->driver)) : own;
  }

  /// What is not waiting goes to the instruction's category, bound and provenance.
  void account(InstructionRecord& record) {
    Totals& totals = run_.totals;
    const Picoseconds active = record.self_time - std::min(record.self_time, record.exposed);
    totals.by_category[static_cast<size_t>(cost_->category)] += active;
    totals.by_provenance[static_cast<size_t>(cost_->provenance)] += active;
    // What takes longer than it would alone had to share HBM.
    const Picoseconds alone = later(cost_->time(), called_overhead_);
    const bool shared = active > alone && (called_ || cost_->stream.count() > 0);
    const Unit hbm = c_.memory.unit_of(c_.memory.hbm());
    if (shared) totals.by_bound[index_of(hbm)] += active - alone;
    const Picoseconds own = shared ? alone : active;
    if (index_of(cost_->bound_by) < kUnitCount)
      totals.by_bound[index_of(cost_->bound_by)] += own;
    else
      totals.overhead += own;
    record.bound_by = record.exposed > active ? Unit::kWait : shared && !called_ ? hbm : cost_->bound_by;
  }

  /// Counts of an instruction that ran `count` times.
  void add_work(const InstructionCost& cost, int64_t count) {
    Totals& totals = run_.totals;
    for (size_t i = 0; i < kUnitCount; ++i) add_times(totals.busy[i], cost.busy[i], count);
    add_counts(totals, cost, count);
  }

  // ── collectives ──

  Result<void> collective(InstructionId id, const Instruction& instruction, InstructionRecord& record) {
    auto cost = network_cost(c_, id, sinks_);
    if (!cost) return tl::unexpected(std::move(cost.error()));
    run_collective(id, instruction, record, std::move(*cost));
    return {};
  }

  /// The fusion's own work beside the links.
  void run_collective(InstructionId id, const Instruction& instruction, InstructionRecord& record,
                      CollectiveCost&& cost) {
    InstructionCost& own = change_cost();
    own.busy[kIciUnit] = cost.network;
    if (cost.driver != Unit::kNone) own.busy[index_of(cost.driver)] = cost.driving;
    own.fixed = later(own.fixed, cost.launch);
    if (cost.network > own.stream) own.stream = cost.network, own.bound_by = Unit::kIci;
    if (cost.driving > own.stream) own.stream = cost.driving, own.bound_by = cost.driver;
    if (own.fixed > own.stream) own.bound_by = Unit::kOverhead;
    if (cost.network.count() > 0) own.provenance = std::max(own.provenance, c_.provenance_of(Unit::kIci));
    if (cost.driving > cost.network) own.provenance = std::max(own.provenance, c_.provenance_of(cost.driver));
    if (own.busy[kIciUnit].count() > 0) drain_links(record);
    const Picoseconds begin = overlap_.now();
    compute(record, own.stream, hbm_work(own), 1);
    TransferRecord transfer;
    transfer.start_instruction = id;
    transfer.kind = TransferKind::kCollective;
    transfer.lane = Lane::kIci;
    transfer.executions = 1;
    transfer.done_instruction = id;
    transfer.start = record.start;
    transfer.begin = begin;
    transfer.end = transfer.done = overlap_.now();
    transfer.latency = own.fixed;
    transfer.alone = own.stream;
    transfer.queued = begin - record.start;
    transfer.duration = transfer.end - transfer.start;
    // While it queued, the TensorCore waited for what was in flight, which has that as its own. Nothing is
    // hidden.
    transfer.exposed = transfer.end - transfer.begin;
    run_.totals.synchronous += transfer.exposed;
    transfer.bytes = cost.payload;
    describe_spaces(transfer, c_.module, instruction);
    add_sent(cost.sent, cost.scalar_sent);
    transfer.collective = std::move(cost);
    run_.transfers.push_back(std::move(transfer));
  }

  // ── collectives inside of fusions ──

  Result<void> fused(InstructionId id, const Instruction& instruction,
                     std::span<const FusedCollective> inside, InstructionRecord& record) {
    const FusedPart part = inside.front().part;
    if (part == FusedPart::kDone) wait_for_fused(id, record);
    if (part == FusedPart::kDone || part == FusedPart::kCarried) {
      compute(record, cost_->stream, hbm_work(*cost_), 1);
      return {};
    }
    std::vector<CollectiveCost> costs;
    for (const FusedCollective& one : inside) {
      auto cost = fused_network_cost(c_, one, sinks_);
      if (!cost) return tl::unexpected(std::move(cost.error()));
      costs.push_back(std::move(*cost));
    }
    if (part == FusedPart::kStart)
      start_fused(id, instruction, record, costs);
    else
      run_collective(id, instruction, record, together(costs));
    if (costs.size() > 1) run_.transfers.back().wrapped = std::move(costs);
    return {};
  }

  void start_fused(InstructionId id, const Instruction& instruction, InstructionRecord& record,
                   std::span<const CollectiveCost> costs) {
    CollectiveCost cost = together(costs);
    const Picoseconds held = held_by_start(costs, c_.device);
    sinks_.assumptions.add(
        held.count() == 0
            ? "fusions that start a collective only issue it: it overlaps with later operations"
            : "fusions that start a collective issue it and wait for its first step: their other work "
              "isn't counted",
        id);
    change_cost().fixed += held;
    ReplayStep step;
    step.kind = ReplayStep::Kind::kStart;
    step.lane = Lane::kIci;
    step.fixed = cost_->fixed, step.stream = cost_->stream;
    step.latency = cost.launch, step.transfer = cost.stream() - held;
    perform(step, tickets_, record);
    run_.steps.push_back(step);
    const size_t ticket = tickets_.back();
    TransferRecord transfer;
    transfer.start_instruction = id;
    transfer.kind = TransferKind::kCollective;
    transfer.lane = Lane::kIci;
    transfer.executions = 1;
    transfer.start = overlap_[ticket].start;
    transfer.latency = step.latency, transfer.alone = step.transfer;
    transfer.bytes = cost.payload;
    describe_spaces(transfer, c_.module, instruction);
    transfer_of_ticket_[ticket] = run_.transfers.size();
    started_.emplace_back(id, tickets_.size() - 1);
    add_times(run_.totals.busy[kIciUnit], cost.network, 1);
    add_work(*cost_, 1);
    add_sent(cost.sent, cost.scalar_sent);
    transfer.collective = std::move(cost);
    hold(record, transfer, held);
    run_.transfers.push_back(std::move(transfer));
  }

  void wait_for_fused(InstructionId done, InstructionRecord& record) {
    const InstructionId begun = c_.fused.begun_by(done);
    if (begun.valid()) end_transfer(begun, done, record);
  }

  void add_sent(Bytes sent, Bytes scalar_sent) {
    add_bytes(run_.totals.sent, sent, 1);
    add_bytes(run_.totals.scalar_sent, scalar_sent, 1);
  }

  // ── asynchronous work ──

  /// The start's own time, then the transfer goes its way.
  Result<void> start(InstructionId id, InstructionRecord& record) {
    auto plan = plan_transfer(c_, id, done_, sinks_);
    if (!plan) return tl::unexpected(std::move(plan.error()));
    change_cost() = plan->cost;
    TransferRecord& transfer = plan->record;
    const Picoseconds held = std::min(held_by_start(transfer.collectives(), c_.device), plan->stream);
    change_cost().fixed += held;
    plan->stream -= held;
    ReplayStep step;
    step.kind = ReplayStep::Kind::kStart;
    step.lane = transfer.lane;
    step.fixed = cost_->fixed, step.stream = cost_->stream;
    step.latency = plan->latency, step.transfer = plan->stream, step.demand = share(*plan);
    if (transfer.collective) step.links = transfer.collective->links;
    perform(step, tickets_, record);
    run_.steps.push_back(step);
    const size_t ticket = tickets_.back();
    transfer.start = overlap_[ticket].start;
    transfer.lane = overlap_[ticket].lane;
    transfer.latency = plan->latency, transfer.alone = plan->stream;
    transfer_of_ticket_[ticket] = run_.transfers.size();
    started_.emplace_back(id, tickets_.size() - 1);
    for (size_t i = 0; i < kUnitCount; ++i) add_times(run_.totals.busy[i], plan->busy[i], 1);
    add_work(*cost_, 1);
    add_sent(plan->sent, plan->scalar_sent);
    hold(record, transfer, held);
    run_.transfers.push_back(std::move(transfer));
    return {};
  }

  /// The start waits for its own transfer, the next of the records, until its first step is over.
  void hold(InstructionRecord& record, TransferRecord& transfer, Picoseconds held) {
    if (held.count() == 0) return;
    record.exposed += held;
    record.waited_for = static_cast<int32_t>(run_.transfers.size());
    transfer.start -= held, transfer.alone += held;
    transfer.exposed += held;
    expose(transfer, held);
  }

  static double share(const TransferPlan& plan) {
    if (plan.stream.count() == 0) return 0;
    return std::min(1.0,
                    static_cast<double>(plan.hbm_work.count()) / static_cast<double>(plan.stream.count()));
  }

  void finish(InstructionId id, InstructionRecord& record) {
    change_cost().category = CostCategory::kControl;
    end_transfer(c_.schedule.start_of[id], id, record);
  }

  /// `id` is done with what `start` set going, if that is still in flight.
  void end_transfer(InstructionId start, InstructionId id, InstructionRecord& record) {
    const auto found = std::find_if(started_.rbegin(), started_.rend(),
                                    [&](const auto& entry) { return entry.first == start; });
    if (found == started_.rend()) return;
    const size_t ticket = wait_for_start(found->second, record);
    started_.erase(std::next(found).base());
    TransferRecord& transfer = run_.transfers[transfer_of_ticket_[ticket]];
    transfer.done_instruction = id;
    transfer.done = overlap_.now();
    close(transfer, ticket);
  }

  /// Waits for the transfer of the start of that number; its ticket.
  size_t wait_for_start(size_t number, InstructionRecord& record) {
    ReplayStep step;
    step.kind = ReplayStep::Kind::kWait;
    step.which = static_cast<int32_t>(number);
    perform(step, tickets_, record);
    run_.steps.push_back(step);
    return tickets_[number];
  }

  void close(TransferRecord& transfer, size_t ticket) const {
    const Overlap::Transfer& work = overlap_[ticket];
    transfer.begin = work.begin;
    transfer.queued = work.begin - work.ready;
    transfer.end = work.end;
    transfer.duration = work.end - transfer.start;
    transfer.hidden = transfer.duration - std::min(transfer.duration, transfer.exposed);
  }

  /// A computation ends when everything that it started has: its last instruction waits for what no done
  /// does.
  void finish_transfers() {
    if (started_.empty()) return;
    InstructionRecord unrecorded;
    InstructionRecord& last = c_.keeps_records ? run_.instructions.back() : unrecorded;
    const Picoseconds from = overlap_.now();
    for (const auto& [start, number] : started_) {
      const size_t ticket = wait_for_start(number, last);
      TransferRecord& transfer = run_.transfers[transfer_of_ticket_[ticket]];
      transfer.done = overlap_.now();
      close(transfer, ticket);
    }
    started_.clear();
    prolong(last, overlap_.now() - from);
  }

  void prolong(InstructionRecord& last, Picoseconds wait) {
    if (wait.count() == 0) return;
    last.time += wait, last.self_time += wait;
    if (last.exposed > last.self_time - std::min(last.self_time, last.exposed)) last.bound_by = Unit::kWait;
    if (!c_.options.keep_timeline) return;
    const bool has_span = !run_.spans.empty() && run_.spans.back().instruction == last.id;
    if (!has_span) run_.spans.push_back({last.id, Lane::kTensorCore, last.start, overlap_.now(), false});
    run_.spans.back().end = overlap_.now();
    run_.spans.back().waiting = last.exposed == last.time;
  }

  void add_transfer_spans() {
    if (!c_.options.keep_timeline) return;
    for (const TransferRecord& transfer : run_.transfers)
      if (transfer.start_instruction != transfer.done_instruction && transfer.end > transfer.begin)
        run_.spans.push_back(
            {transfer.start_instruction, transfer.lane, transfer.begin, transfer.end, false});
  }

  // ── control flow ──

  void call(InstructionId id, const Instruction& instruction, InstructionRecord& record) {
    const Attr* body = instruction.find(AttrKey::kBody);
    if (body) return loop(id, instruction, record);
    ComputationId longest;
    int64_t branches = 0;
    for_each_called(instruction, [&](ComputationId callee) {
      ++branches;
      if (!longest.valid() || done_[callee].totals.makespan > done_[longest].totals.makespan)
        longest = callee;
    });
    if (!longest.valid()) return compute(record, cost_->stream, Picoseconds(0), 1);
    for_each_called(instruction, [&](ComputationId callee) {
      if (callee != longest) sinks_.calls.push_back({id, callee, 0, {}, {}, false});
    });
    if (branches > 1) sinks_.assumptions.add("a conditional takes its longest branch", id);
    sinks_.calls.push_back({id, longest, 1, cost_->fixed, {}, false});
    add_totals(run_.totals, done_[longest].totals, 1);
    ReplayStep step;
    step.callees[0] = longest;
    step.times = 1;
    composite(record, step, done_[longest].totals);
  }

  void loop(InstructionId id, const Instruction& instruction, InstructionRecord& record) {
    const ComputationId body = instruction.find(AttrKey::kBody)->computations()[0];
    const ComputationId condition = instruction.find(AttrKey::kCondition)->computations()[0];
    const TripCount trips = trip_count(c_.module, instruction);
    LoopRecord record_of_loop{
        id, trips.known() ? trips.count : c_.options.unknown_trip_count, trips.known(), {}};
    const int64_t count = record_of_loop.trip_count;
    if (!trips.known())
      sinks_.assumptions.add(fmt::format("the trip count of a while loop is unknown: assumed {}", count), id);
    Totals once;
    add_totals(once, done_[condition].totals, 1);
    add_totals(once, done_[body].totals, 1);
    const Picoseconds called = later(done_[condition].totals.makespan, done_[body].totals.makespan);
    record_of_loop.iteration = later(called, c_.device.overhead.loop_iteration);
    sinks_.loops.push_back(record_of_loop);
    const Picoseconds period = record_of_loop.iteration;
    sinks_.calls.push_back({id, condition, count, cost_->fixed, period, false});
    sinks_.calls.push_back(
        {id, body, count, later(cost_->fixed, done_[condition].totals.makespan), period, false});
    change_cost().bound_by = Unit::kOverhead;
    change_cost().provenance = c_.provenances.loop;
    add_totals(run_.totals, once, count);
    ReplayStep step;
    step.callees[0] = condition, step.callees[1] = body;
    step.times = count;
    step.between = c_.device.overhead.loop_iteration;
    composite(record, step, once);
  }

  /// Runs what is called.
  void composite(InstructionRecord& record, ReplayStep& step, const Totals& called) {
    step.kind = ReplayStep::Kind::kCall;
    step.drains_links = called.busy[kIciUnit].count() > 0;
    step.drains_host = called.busy[kHostUnit].count() > 0;
    step.fixed = cost_->fixed;
    perform(step, tickets_, record);
    add_work(*cost_, 1);
    run_.steps.push_back(step);
    called_time_ = times(alone(step) - step.between, step.times);
    called_overhead_ = times(step.between, step.times);
    called_ = true;
  }

  const RunContext& c_;
  const IdMap<ComputationId, ComputationRun>& done_;
  RunSinks& sinks_;
  ComputationRun run_;
  Overlap overlap_;
  static constexpr size_t kNoRecord = SIZE_MAX;
  std::vector<size_t> tickets_;                            // of this computation's starts
  std::vector<size_t> transfer_of_ticket_;                 // kNoRecord: of a called computation's
  std::vector<std::pair<InstructionId, size_t>> started_;  // and the number of the start; not yet waited for
  const InstructionCost* cost_ = nullptr;                  // of the instruction at hand
  InstructionCost changed_cost_;                           // where it isn't the one of RunContext::costs
  Picoseconds called_time_{};  // of computations that the instruction at hand called, alone
  Picoseconds called_overhead_{};
  bool called_ = false;
};

}  // namespace

void add_totals(Totals& totals, const Totals& more, int64_t count) {
  const auto add_all = [&](auto& into, const auto& from) {
    for (size_t i = 0; i < into.size(); ++i) add_times(into[i], from[i], count);
  };
  add_all(totals.busy, more.busy);
  add_all(totals.by_category, more.by_category);
  add_all(totals.by_provenance, more.by_provenance);
  add_all(totals.by_bound, more.by_bound);
  add_counts(totals, more, count);
  add_bytes(totals.sent, more.sent, count);
  add_bytes(totals.scalar_sent, more.scalar_sent, count);
  add_times(totals.exposed_copies, more.exposed_copies, count);
  add_times(totals.exposed_collectives, more.exposed_collectives, count);
  add_times(totals.exposed_others, more.exposed_others, count);
  add_times(totals.idle, more.idle, count);
  add_times(totals.synchronous, more.synchronous, count);
  add_times(totals.overhead, more.overhead, count);
}

Result<ComputationRun> run_computation(const RunContext& context, ComputationId id,
                                       const IdMap<ComputationId, ComputationRun>& done, RunSinks& sinks) {
  return Runner(context, done, sinks).run(id);
}

}  // namespace hlosim
