#include "sim/transfer_plan.h"

#include <algorithm>

#include "interconnect/collective_costs.h"
#include "interconnect/collective_driver.h"
#include "interconnect/offload.h"
#include "model/fused_collectives.h"
#include "model/memory_system.h"

namespace hlosim {
namespace {

/// S(n) of the first array inside.
int64_t space_number(ShapeRef shape) {
  int64_t number = kDefaultMemorySpace;
  bool first = true;
  for_each_leaf(shape, [&](ShapeRef leaf) {
    if (leaf->is_array() && first) number = leaf->memory_space(), first = false;
  });
  return number;
}

class Planner {
 public:
  Planner(const RunContext& context, InstructionId start, const IdMap<ComputationId, ComputationRun>& done,
          RunSinks& sinks)
      : c_(context), id_(start), instruction_(context.module[start]), done_(done), sinks_(sinks) {
    plan_.cost = context.costs[start];
    plan_.record.start_instruction = start;
    plan_.record.executions = 1;
  }

  Result<TransferPlan> plan() {
    const OpDef& def = c_.table[instruction_.opcode];
    if (def.has(kCollective)) return collective();
    if (def.has(kCopyStart)) return copy();
    if (def.has(kHostTransfer)) return host_transfer();
    if (const InstructionId slice = fetched_slice(); slice.valid()) return copied_slice(slice);
    return computation();
  }

 private:
  /// HBM's part of the traffic, and the stream at least as long.
  void add_hbm() {
    plan_.hbm_work = c_.memory.busy(c_.memory.hbm(), hbm());
    plan_.busy[index_of(c_.memory.unit_of(c_.memory.hbm()))] = plan_.hbm_work;
    plan_.stream = std::max(plan_.stream, plan_.hbm_work);
  }
  const Traffic& hbm() const { return plan_.cost.traffic[c_.memory.hbm()]; }
  /// Until the first byte comes from HBM, and until the last one has arrived there.
  Picoseconds hbm_latency() const {
    Picoseconds latency{};
    latency += Core(c_.device).dma_latency(hbm().read.count() > 0, hbm().written.count() > 0);
    return latency;
  }

  TransferPlan copy() {
    return copy(c_.module[instruction_.operands[0]].shape, instruction_.shape->elements[0]);
  }

  /// A part of an array that is fetched as it stands, row by row; invalid: the start calls something else.
  InstructionId fetched_slice() const {
    const Attr* calls = instruction_.find(AttrKey::kCalls);
    if (!calls) return {};
    const InstructionId root = c_.module[calls->computations()[0]].root;
    const Instruction& slice = c_.module[root];
    const bool takes = slice.opcode == Opcode::kSlice || slice.opcode == Opcode::kDynamicSlice;
    if (!takes || c_.module[slice.operands[0]].parameter_number != 0) return {};
    if (slice.opcode == Opcode::kDynamicSlice) return root;
    const auto bounds = slice.find(AttrKey::kSlice)->int_lists();
    const bool whole_rows =
        std::all_of(bounds.begin(), bounds.end(), [](const auto& one) { return one[2] == 1; });
    return whole_rows ? root : InstructionId{};
  }

  /// It goes the way of copies.
  TransferPlan copied_slice(InstructionId slice) {
    const InstructionCost& moved = c_.costs[slice];
    plan_.cost.traffic = moved.traffic;
    plan_.cost.logical_bytes = moved.logical_bytes, plan_.cost.padded_bytes = moved.padded_bytes;
    plan_.cost.category = CostCategory::kData;
    return copy(c_.module[instruction_.operands[0]].shape, c_.module[slice].shape);
  }

  TransferPlan copy(ShapeRef source, ShapeRef target) {
    const size_t from = c_.memory.space_of(source->memory_space());
    const size_t to = c_.memory.space_of(target->memory_space());
    const bool host = c_.memory.on_host(from) || c_.memory.on_host(to);
    const bool out = c_.memory.on_chip(from) && !c_.memory.on_chip(to);
    TransferRecord& record = plan_.record;
    record.kind = TransferKind::kCopy;
    record.lane = host ? Lane::kHost : out ? Lane::kDmaOut : Lane::kDmaIn;
    record.from_space = source->memory_space();
    record.to_space = target->memory_space();
    record.cross_program = instruction_.find(AttrKey::kCrossProgramPrefetchIndex) != nullptr;
    if (record.cross_program && c_.options.cross_program_prefetch_is_done) {
      plan_.cost.traffic = {};
      plan_.cost.logical_bytes = plan_.cost.padded_bytes = Bytes(0);
      sinks_.assumptions.add("cross-program prefetches were done by the run before", id_);
      return std::move(plan_);
    }
    for (size_t i = 0; i < c_.device.memory.size(); ++i) {
      const Traffic& traffic = plan_.cost.traffic[i];
      record.bytes = std::max({record.bytes, traffic.read, traffic.written});
      plan_.stream = std::max(plan_.stream, c_.memory.busy(i, traffic));
    }
    plan_.latency += hbm_latency();
    if (host) plan_.latency += c_.device.host.pcie.latency;
    if (host) plan_.busy[index_of(Unit::kHost)] = plan_.stream;
    add_hbm();
    return std::move(plan_);
  }

  Result<TransferPlan> collective() {
    auto cost = network_cost(c_, id_, sinks_);
    if (!cost) return tl::unexpected(std::move(cost.error()));
    plan_.record.kind = TransferKind::kCollective;
    plan_.record.lane = Lane::kIci;
    plan_.record.bytes = cost->payload;
    describe_spaces(plan_.record, c_.module, instruction_);
    // What a synchronous one pays as its smallest fusion: the data are fetched from HBM and put back there.
    plan_.latency = cost->launch + hbm_latency();
    plan_.stream = cost->stream();
    plan_.busy[index_of(Unit::kIci)] = cost->busy();
    if (cost->driver != Unit::kNone) plan_.busy[index_of(cost->driver)] = cost->driving;
    plan_.sent = cost->sent, plan_.scalar_sent = cost->scalar_sent;
    plan_.record.collective = std::move(*cost);
    add_hbm();
    return std::move(plan_);
  }

  /// send and recv: to the host over PCIe, to another device over one link.
  TransferPlan host_transfer() {
    const Attr* flag = instruction_.find(AttrKey::kIsHostTransfer);
    const bool host = flag && flag->flag();
    TransferRecord& record = plan_.record;
    record.kind = host ? TransferKind::kHost : TransferKind::kCollective;
    record.lane = host ? Lane::kHost : Lane::kIci;
    record.bytes = plan_.cost.padded_bytes;
    plan_.stream = duration(record.bytes, host ? c_.device.host.pcie.bandwidth : c_.device.ici.bandwidth);
    plan_.latency = host ? c_.device.host.pcie.latency : c_.device.ici.launch + c_.device.ici.hop_latency;
    if (!host) sinks_.assumptions.add("send and recv between devices go over one hop of one link", id_);
    plan_.busy[index_of(host ? Unit::kHost : Unit::kIci)] = plan_.stream;
    add_hbm();
    return std::move(plan_);
  }

  /// What async-start calls runs on its own: as a collective, a copy or a computation beside the TensorCore.
  TransferPlan computation() {
    const ComputationId callee = instruction_.find(AttrKey::kCalls)->computations()[0];
    const ComputationRun& called = done_[callee];
    const Totals& totals = called.totals;
    TransferRecord& record = plan_.record;
    if (std::vector<CollectiveCost> inside; collect(called, inside) && !inside.empty()) {
      record.collective = together(inside);
      if (inside.size() > 1) record.wrapped = std::move(inside);
    }
    const Picoseconds moving = totals.by_category[static_cast<size_t>(CostCategory::kData)];
    const bool computes = totals.flops.count() > 0 || totals.vector_operations > 0;
    if (totals.busy[index_of(Unit::kIci)].count() > 0 || record.collective) {
      record.kind = TransferKind::kCollective, record.lane = Lane::kIci;
    } else if (totals.busy[index_of(Unit::kHost)].count() > 0) {
      record.kind = TransferKind::kHost, record.lane = Lane::kHost;
    } else if (!computes && moving.count() > 0) {
      record.kind = TransferKind::kCopy, record.lane = Lane::kDmaIn;
    } else {
      record.kind = TransferKind::kComputation, record.lane = Lane::kAsync;
    }
    describe_spaces(record, c_.module, instruction_);
    if (instruction_.shape->is_tuple() && instruction_.shape->elements.size() > 1)
      record.to_space = space_number(instruction_.shape->elements[1]);
    record.bytes = record.collective ? record.collective->payload
                   : record.kind == TransferKind::kCopy
                       ? Bytes(totals.padded_bytes.count() / 2)  // read, written
                       : totals.padded_bytes;
    for (const UnitRow& row : unit_rows())
      if (row.place == UnitPlace::kBeside) plan_.busy[index_of(row.unit)] = totals.busy[index_of(row.unit)];
    plan_.stream = totals.makespan;
    plan_.hbm_work = called.hbm_work;
    plan_.busy[index_of(c_.memory.unit_of(c_.memory.hbm()))] = called.hbm_work;
    plan_.sent = totals.sent, plan_.scalar_sent = totals.scalar_sent;
    plan_.cost.flops = totals.flops;
    plan_.cost.vector_operations = totals.vector_operations;
    plan_.cost.transcendentals = totals.transcendentals;
    plan_.cost.traffic = totals.traffic;
    plan_.cost.logical_bytes = totals.logical_bytes, plan_.cost.padded_bytes = totals.padded_bytes;
    sinks_.calls.push_back({id_, callee, 1, {}, {}, true});
    if (record.kind != TransferKind::kCollective && c_.offloads.has(id_)) offloaded(callee);
    return std::move(plan_);
  }

  /// What is no collective; the plan says how long the TensorCore takes.
  void offloaded(ComputationId callee) {
    const auto gather = offloaded_gather(c_.module, c_.module[callee].root, c_.device);
    if (!gather) return sinks_.assumptions.add(other_offload_assumption(), id_);
    sinks_.assumptions.add(offloaded_gather_assumption(), id_);
    plan_.record.kind = TransferKind::kComputation, plan_.record.lane = Lane::kAsync;
    plan_.record.bytes = std::max(gather->read, gather->written);
    plan_.latency = gather->launch;
    plan_.stream = gather->stream;
    plan_.busy[index_of(gather->unit)] = gather->stream;
    plan_.cost.traffic[c_.memory.hbm()] = {gather->read, gather->written};
    plan_.cost.padded_bytes = hbm().total();
    add_hbm();
  }

  /// Those of what the start calls, and of what that calls in turn, in order. False: how often they run isn't
  /// told by the text alone (loops, branches), or there are too many to name.
  bool collect(const ComputationRun& run, std::vector<CollectiveCost>& into) const {
    constexpr size_t kMost = 64;
    for (const TransferRecord& one : run.transfers) {
      if (one.kind == TransferKind::kCollective && !one.collective) return false;
      if (!one.wrapped.empty())
        into.insert(into.end(), one.wrapped.begin(), one.wrapped.end());
      else if (one.collective)
        into.push_back(*one.collective);
    }
    if (into.size() > kMost) return false;
    for (const ReplayStep& step : run.steps) {
      if (step.kind != ReplayStep::Kind::kCall) continue;
      const size_t before = into.size();
      for (const ComputationId callee : step.callees)
        if (callee.valid() && !collect(done_[callee], into)) return false;
      if (into.size() > before && (step.times != 1 || step.callees[1].valid())) return false;
    }
    return true;
  }

  const RunContext& c_;
  const InstructionId id_;
  const Instruction& instruction_;
  const IdMap<ComputationId, ComputationRun>& done_;
  RunSinks& sinks_;
  TransferPlan plan_;
};

}  // namespace

void describe_spaces(TransferRecord& transfer, const Module& module, const Instruction& instruction) {
  if (!instruction.operands.empty())
    transfer.from_space = space_number(module[instruction.operands[0]].shape);
  transfer.to_space = space_number(instruction.shape);
}

Result<CollectiveCost> fused_network_cost(const RunContext& context, const FusedCollective& fused,
                                          RunSinks& sinks) {
  const OpContext op(context.module, context.shapes, context.module[fused.instruction], context.table,
                     nullptr);
  auto cost = context.collectives.of(op, sinks.assumptions, AxisOrder::kInTurn, fused.kind);
  if (cost) drive_by_tensor_cores(*cost, context.device), cost->instruction = fused.instruction;
  return cost;
}

Result<CollectiveCost> network_cost(const RunContext& context, InstructionId id, RunSinks& sinks) {
  const OpContext op(context.module, context.shapes, context.module[id], context.table, nullptr);
  const bool is_given = context.offloads.has(id);
  auto cost = context.collectives.of(op, sinks.assumptions, axis_order(is_given, context.device));
  if (!cost) return cost;
  drive_collective(*cost, context.module[id], is_given, context.device, sinks.assumptions);
  cost->instruction = id;
  return cost;
}

Result<TransferPlan> plan_transfer(const RunContext& context, InstructionId start,
                                   const IdMap<ComputationId, ComputationRun>& done, RunSinks& sinks) {
  return Planner(context, start, done, sinks).plan();
}

}  // namespace hlosim
