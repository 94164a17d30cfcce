#include "model/instruction_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/text.h"
#include "hlo/graph.h"
#include "layout/sizes.h"
#include "model/core.h"
#include "model/cost_recorder.h"
#include "model/custom_call_costs.h"
#include "model/fused_collectives.h"
#include "model/fusion_summary.h"
#include "model/instruction_kernels.h"
#include "model/memory_system.h"
#include "model/pallas/custom_call_cost_source.h"
#include "model/pallas/kernel_bodies.h"
#include "model/provenances.h"
#include "model/strided_access.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/divisor.h"
#include "ops/infer.h"

namespace hlosim {

std::string_view to_text(CostCategory category) {
  constexpr std::string_view kNames[] = {"matmul", "vector",      "data movement", "collective",
                                         "host",   "custom call", "control"};
  return kNames[static_cast<size_t>(category)];
}

namespace {

/// `Recorder`: CostRecorder, or NoTerms, whose calls compile to nothing.
template <class Recorder>
class CostModel {
 public:
  /// `shapes`: the module's or a copy of them. All outlive the object.
  CostModel(const Module& module, ShapePool& shapes, const OpTable& table, const Device& device,
            const CostOptions& options, AssumptionList& assumptions, Recorder& recorder)
      : module_(module),
        shapes_(shapes),
        table_(table),
        device_(device.config),
        recorder_(recorder),
        options_(options),
        assumptions_(assumptions),
        core_(device.config),
        memory_(device.config),
        provenances_(device),
        planner_(module, core_, memory_),
        kernels_(device.config, options.custom_calls),
        fused_(module, table),
        fusions_(module, shapes, table, core_, assumptions) {}

  const ContentNumbers& contents() const { return fusions_.contents(); }
  bool has_collective(const Instruction& instruction) const {
    return fused_.part_of(instruction).has_value();
  }

  /// To call after shapes in the bodies of the fusions that the instruction calls have changed.
  void invalidate(InstructionId id) {
    if (table_[module_[id].opcode].has(kFusion))
      for_each_called(module_[id], [&](ComputationId body) { fusions_.invalidate(body); });
  }

  InstructionCost cost(InstructionId id) {
    const Instruction& instruction = module_[id];
    const OpDef& def = table_[instruction.opcode];
    InstructionCost cost;
    fixed_ = {};
    if (def.has(kAsyncDone) || def.has(kAsyncUpdate)) return issued(IssueKind::kDone, cost);
    if (def.has(kFree)) return issued(IssueKind::kFree, cost);
    if (def.has(kAsyncStart)) return issued(IssueKind::kStart, start_cost(instruction, def));
    if (const auto part = fused_.part_of(instruction);
        part == FusedPart::kStart || part == FusedPart::kDone) {
      cost = fused_end_cost(*part);
      record({.cost = cost, .compute = {}, .fixed = fixed_});
      return cost;
    }
    if (def.has(kCallsInline)) {
      cost.fixed = instruction.find(AttrKey::kToApply) ? Picoseconds(0) : device_.overhead.instruction;
      cost.bound_by = cost.fixed.count() > 0 ? Unit::kOverhead : Unit::kNone;
      return issued(IssueKind::kCaller, cost);
    }
    ComputeSummary compute;
    const CustomCallCost* given = options_.custom_calls ? options_.custom_calls->find(instruction) : nullptr;
    const KernelOfCall* const kernel = given ? nullptr : kernel_of(instruction, id);
    const CustomCallCostSource known =
        given || kernel ? CustomCallCostSource{}
                        : custom_call_cost_source(module_, instruction, device_, options_.custom_calls);
    const bool custom = given || kernel || known;
    if (def.has(kFusion)) {
      compute = add_fusion(cost, instruction);
    } else {
      compute = add_plain(cost, instruction, custom);
    }
    if (given) apply_custom(cost, id, *given, compute);
    if (kernel) apply_body(cost, id, *kernel, compute);
    if (known) {
      apply_known(cost, id, known);
      return cost;
    }
    if (!custom && is_concat_bitcast(instruction)) return issued(IssueKind::kFree, {});
    if (!custom) add_compute(cost, compute);
    add_memory_time(cost, compute);
    const bool streams = compute.scattered_accesses == 0 || compute.matmul.cycles > 0;
    const bool has_blocks = !custom && streams && !def.has(kHostTransfer) && !def.has(kCollective);
    const TimedKernel* planned = has_blocks ? add_blocks(cost, compute, instruction) : nullptr;
    if (def.has(kHostTransfer)) add_host_time(cost);
    cost.category = category_of(cost, compute, instruction, def);
    finish(cost, compute);
    if (given) cost.provenance = Provenance::kOverride;
    if (given && given->time) keep_time(cost, id, *given->time);
    if (kernel) finish_body(cost, *kernel);
    record({.cost = cost,
            .compute = compute,
            .fixed = fixed_,
            .kernel = planned,
            .body = kernel,
            .given = given});
    return cost;
  }

 private:
  static constexpr bool kRecords = std::is_same_v<Recorder, CostRecorder>;

  void record(const CostedWork& work) {
    if constexpr (kRecords) recorder_.work(work);
  }
  InstructionCost issued(IssueKind kind, const InstructionCost& cost) {
    if constexpr (kRecords) recorder_.issue(kind, cost);
    return cost;
  }

  // ── traffic ──

  enum class Direction : uint8_t { kRead, kWrite };

  void access(InstructionCost& cost, Direction direction, int64_t space, Bytes padded, Bytes logical) {
    const size_t at = memory_.space_of(space);
    if (at == kUnknownSpace)
      assumptions_.add(
          fmt::format("memory space S({}) is not in the device file: its traffic takes no time", space));
    Traffic& traffic = cost.traffic[at];
    add_bytes(direction == Direction::kRead ? traffic.read : traffic.written, padded);
    add_bytes(cost.padded_bytes, padded);
    add_bytes(cost.logical_bytes, logical);
  }

  /// Adds the traffic of all arrays of `part`. `where` has their memory spaces: the same shape, or the array
  /// that `part` is a part of.
  void access_shape(InstructionCost& cost, Direction direction, ShapeRef part, ShapeRef where) {
    if (!part) return;
    if (part->is_tuple()) {
      for_each_leaf(part, [&](ShapeRef leaf) { access_shape(cost, direction, leaf, leaf); });
      return;
    }
    const ShapeRef array = part->is_buffer() ? part->elements[0] : part;
    if (!array->is_array() || array->rank() == 0) return;
    const ShapeRef home = where->is_array() ? where : array;
    access(cost, direction, home->memory_space(), array_size(array), dense_bytes(array));
  }

  void access_parts(InstructionCost& cost, ComputeSummary& compute, Direction direction, ShapeRef shape,
                    std::span<const AccessPattern> parts) {
    size_t at = 0;
    for_each_leaf(shape, [&](ShapeRef leaf) {
      const AccessPattern part = at < parts.size() ? parts[at] : AccessPattern{.whole = true};
      ++at;
      const ShapeRef array = leaf->is_buffer() ? leaf->elements[0] : leaf;
      if (!array->is_array() || array->rank() == 0) return;
      place_windows(compute, direction, array, part.runs, part.accesses);
      const Bytes all = array_size(array);
      if (part.whole || part.padded >= all)
        access(cost, direction, array->memory_space(), all, dense_bytes(array));
      else if (part.padded.count() > 0)
        access(cost, direction, array->memory_space(), part.padded, part.logical);
    });
  }

  /// Adds the windows of `array`: in HBM they are moved by DMA in runs, on chip by loads and stores without
  /// DMA latencies.
  void place_windows(ComputeSummary& compute, Direction direction, ShapeRef array, const ShortRuns& runs,
                     int64_t accesses) const {
    const size_t space = memory_.space_of(array->memory_space());
    if (space == memory_.hbm()) {
      (direction == Direction::kRead ? compute.hbm_reads : compute.hbm_writes) += runs;
    } else if (space != kUnknownSpace && memory_.on_chip(space) && accesses > 0) {
      compute.scattered_accesses = std::max<int64_t>(compute.scattered_accesses - accesses, 0);
      compute.regrouped_tiles = std::max(compute.regrouped_tiles, compute.moved_tiles);
      compute.regroups = false;  // row after row, beside the DMA
    }
  }

  // ── kinds of instructions ──

  /// `custom`: a cost of its own takes the place of what we know of the work.
  ComputeSummary add_plain(InstructionCost& cost, const Instruction& instruction, bool custom) {
    const OpContext op(module_, shapes_, instruction, table_, nullptr);
    Work work = work_of(op, core_.vector_shape());
    AssumptionList unused;
    ComputeSummary compute = summarize_work(work, core_, custom ? unused : assumptions_);
    if (!instruction.operands.empty())
      move_rows_on_chip(work, compute, module_[instruction.operands[0]].shape, core_);
    add_accesses(cost, instruction, work);
    add_windows(compute, instruction, work);
    if (!compute.has_vector) return compute;
    for (const ShapeRef read : work.operand_read)
      if (read) compute.add_conversion(core_, read);
    if (work.result_written) compute.add_conversion(core_, work.result_written);
    return compute;
  }

  void add_accesses(InstructionCost& cost, const Instruction& instruction, const Work& work) {
    for (size_t i = 0; i < instruction.operands.size() && i < work.operand_read.size(); ++i)
      access_shape(cost, Direction::kRead, work.operand_read[i], module_[instruction.operands[i]].shape);
    access_shape(cost, Direction::kWrite, work.result_written, instruction.shape);
  }

  void add_windows(ComputeSummary& compute, const Instruction& instruction, const Work& work) const {
    const auto window = [&](Direction direction, ShapeRef part, ShapeRef whole, int64_t accesses) {
      if (!part || part == whole || !part->is_array() || !whole->is_array()) return;
      // Parts of lanes come in with the rest of their tiles: nothing is left out.
      if (direction == Direction::kRead && array_size(part) >= array_size(whole)) return;
      const ShortRuns runs = accesses > 1 ? ShortRuns{} : short_runs(part, whole, core_);
      place_windows(compute, direction, whole, runs, accesses);
    };
    for (size_t i = 0; i < instruction.operands.size() && i < work.operand_read.size(); ++i)
      window(Direction::kRead, work.operand_read[i], module_[instruction.operands[i]].shape,
             i == 0 ? work.scattered_accesses : 0);
    window(Direction::kWrite, work.result_written, instruction.shape, 0);
  }

  ComputeSummary add_fusion(InstructionCost& cost, const Instruction& instruction) {
    const FusionSummary& fusion = fusions_[instruction.find(AttrKey::kCalls)->computations()[0]];
    ComputeSummary compute = fusion.compute;
    for (size_t i = 0; i < instruction.operands.size() && i < fusion.parameters.size(); ++i)
      access_parts(cost, compute, Direction::kRead, module_[instruction.operands[i]].shape,
                   fusion.parameters[i]);
    access_parts(cost, compute, Direction::kWrite, instruction.shape, fusion.results);
    if (fusion.constants.read.count() > 0)
      access(cost, Direction::kRead, kDefaultMemorySpace, fusion.constants.read, fusion.logical_constants);
    return compute;
  }

  /// The issue of an asynchronous operation, with the traffic of that operation.
  InstructionCost start_cost(const Instruction& instruction, const OpDef& def) {
    InstructionCost cost;
    const Picoseconds issue = core_.issue_time();
    cost.busy[index_of(Unit::kScalar)] = issue;
    cost.stream = issue;
    cost.bound_by = issue.count() > 0 ? Unit::kScalar : Unit::kNone;
    if (def.has(kCopyStart)) {
      access_shape(cost, Direction::kRead, module_[instruction.operands[0]].shape,
                   module_[instruction.operands[0]].shape);
      access_shape(cost, Direction::kWrite, instruction.shape->elements[0], instruction.shape->elements[0]);
      cost.category = CostCategory::kData;
    } else if (def.has(kCollective)) {
      add_accesses(cost, instruction,
                   work_of(OpContext(module_, shapes_, instruction, table_, nullptr), core_.vector_shape()));
      cost.category = CostCategory::kCollective;
    } else if (def.has(kHostTransfer)) {
      const ShapeRef data =
          instruction.shape->is_tuple() ? instruction.shape->elements[0] : instruction.shape;
      const bool sends = instruction.operands.size() > 1;  // data and token; recv takes a token
      access_shape(cost, sends ? Direction::kRead : Direction::kWrite, data, data);
      cost.category = CostCategory::kHost;
    }
    return cost;
  }

  /// A fusion that only starts a collective, or only waits for its end: its arrays are handed on.
  InstructionCost fused_end_cost(FusedPart part) {
    InstructionCost cost;
    cost.category = CostCategory::kCollective;
    if (part == FusedPart::kStart) cost.stream = core_.issue_time();
    cost.busy[index_of(Unit::kScalar)] = cost.stream;
    fixed_.longest = cost.stream;
    (part == FusedPart::kDone ? fixed_.fused_done : fixed_.instruction) =
        part == FusedPart::kDone ? device_.ici.fused_done : device_.overhead.instruction;
    cost.fixed = fixed_.total();
    cost.bound_by = cost.fixed > cost.stream ? Unit::kOverhead : Unit::kScalar;
    cost.provenance = provenances_.of(cost, {}, fixed_);
    return cost;
  }

  /// A user's cost of a custom call replaces the work that we know of.
  void apply_custom(InstructionCost& cost, InstructionId id, const CustomCallCost& given,
                    ComputeSummary& compute) {
    assumptions_.add(
        fmt::format("custom-call costs are given by \"{}\" ({})", shown(given.key), given.place()), id);
    compute = {};
    if (given.time) cost.busy[index_of(Unit::kCustom)] = *given.time;
    if (given.flops.count() > 0) {
      const FlopsPerSecond peak = peak_flops(device_, ElementType::kBF16);
      cost.busy[index_of(Unit::kMxu)] =
          ceil_picoseconds(static_cast<double>(given.flops.count()) * 1e12 / peak.count());
      cost.flops = given.flops;
      compute.has_matmul = true;
    }
    const auto registers = [&](int64_t elements) {
      return static_cast<double>(elements) / core_.register_elements();
    };
    const IssueSlots pushes = core_.slots(VectorOp::kTranscendental, registers(given.transcendentals));
    compute.slots.alu = core_.slots(VectorOp::kSimple, registers(given.vector_operations)).alu + pushes.alu;
    compute.slots.eup = pushes.eup;
    compute.has_vector = compute.slots.alu > 0;
    if (given.vector_operations > 0) compute.costs |= cost_bit(VectorOp::kSimple);
    if (given.transcendentals > 0) compute.costs |= cost_bit(VectorOp::kTranscendental);
    add_vector_time(cost, compute);
    cost.vector_operations = given.vector_operations + given.transcendentals;
    cost.transcendentals = given.transcendentals;
    Traffic& hbm = cost.traffic[memory_.hbm()];
    if (given.read) hbm.read = *given.read;
    if (given.written) hbm.written = *given.written;
    if (given.read || given.written) {
      Bytes all{};
      for (const Traffic& traffic : cost.traffic) add_bytes(all, traffic.total());
      cost.padded_bytes = all;
      cost.logical_bytes = all;
    }
  }

  /// A time from the user is the time of the whole call: nothing is added to it, and no unit is busy longer.
  void keep_time(InstructionCost& cost, InstructionId id, Picoseconds time) {
    if (cost.stream > time)
      assumptions_.add(
          "the given time of a custom call is shorter than moving its operands and results takes; "
          "`read` and `written` set the bytes that it moves",
          id);
    for (Picoseconds& busy : cost.busy) busy = std::min(busy, time);
    cost.stream = time;
    cost.fixed = Picoseconds(0);
    cost.bound_by = time.count() > 0 ? Unit::kCustom : Unit::kNone;
  }

  const KernelOfCall* kernel_of(const Instruction& instruction, InstructionId id) {
    std::string problem;
    const KernelOfCall* const kernel = kernels_.find(module_, instruction, problem);
    if (!problem.empty())
      assumptions_.add(fmt::format("unreadable kernel body: {}; bytes-only estimate", problem), id);
    return kernel;
  }

  /// Replaces the estimate from operands and results by the one from the body.
  void apply_body(InstructionCost& cost, InstructionId id, const KernelOfCall& kernel,
                  ComputeSummary& compute) {
    const KernelBodyCost& body = kernel.cost;
    assumptions_.add("kernels with bodies are costed step by step of their grids", id);
    for (const std::string& assumed : kernel.body.assumptions)
      assumptions_.add(fmt::format("in Mosaic kernel bodies, {}", assumed), id);
    if (body.vmem > body.vmem_allowed && body.vmem_allowed.count() > 0)
      assumptions_.add(fmt::format("{} needs {} of scoped VMEM, {} allowed", shown(module_[id].name),
                                   to_text(body.vmem), to_text(body.vmem_allowed)),
                       id);
    compute = {};
    compute.matmul.work = body.product;
    compute.has_matmul = body.flops.count() > 0;
    compute.has_vector = body.vector_operations > 0;
    compute.costs = body.costs;
    cost.busy = body.busy;
    cost.flops = body.flops;
    cost.vector_operations = body.vector_operations;
    cost.transcendentals = body.transcendentals;
    cost.emulated = body.is_emulated;
    for (Traffic& traffic : cost.traffic) traffic = {};
    cost.traffic[memory_.hbm()] = {body.read, body.written};
    cost.padded_bytes = body.read + body.written;
  }

  /// The pipeline's first and last blocks, and waits between, come on top of the longest unit.
  void finish_body(InstructionCost& cost, const KernelOfCall& kernel) {
    const Picoseconds whole = kernel.cost.time + device_.overhead.instruction;
    cost.fixed = whole > cost.stream ? whole - cost.stream : Picoseconds(0);
    cost.category = CostCategory::kCustomCall;
    fixed_ = {
        .kernel = kernel.cost.time, .instruction = device_.overhead.instruction, .longest = cost.stream};
  }

  /// A TPU kernel by its blocks, or by its author's estimate.
  void apply_known(InstructionCost& cost, InstructionId id, const CustomCallCostSource& known) {
    assumptions_.add(fmt::format("custom calls are costed by their {}", known.text(device_)), id);
    known.apply(device_, memory_, cost);
    if (known.kernel) {
      cost.fixed = later(cost.fixed, device_.overhead.instruction);
      fixed_ = {.kernel = known.kernel->cost.kernel,
                .instruction = device_.overhead.instruction,
                .longest = cost.stream};
      record({.cost = cost, .compute = {}, .fixed = fixed_, .known = &known});
      return;
    }
    add_memory_time(cost, {});
    finish(cost, {});
    cost.provenance = Provenance::kCalibrated;
    record({.cost = cost, .compute = {}, .fixed = fixed_, .known = &known});
  }

  // ── time ──

  /// Cycles of a core, shared by all of them.
  Picoseconds shared_time(double cycles) const { return core_.time(cycles / core_.cores()); }

  void add_vector_time(InstructionCost& cost, const ComputeSummary& compute) const {
    cost.busy[index_of(Unit::kVpu)] = shared_time(core_.alu_cycles(compute.slots.alu));
    cost.busy[index_of(Unit::kEup)] = shared_time(core_.eup_cycles(compute.slots.eup));
    cost.busy[index_of(Unit::kXlu)] = shared_time(core_.xlu_cycles(compute.slots.xlu));
    cost.busy[index_of(Unit::kScalar)] = shared_time(core_.scalar_cycles(compute.slots.scalar));
  }

  void add_compute(InstructionCost& cost, const ComputeSummary& compute) const {
    cost.busy[index_of(Unit::kMxu)] = core_.time(compute.mxu_cycles);
    add_vector_time(cost, compute);
    cost.flops = compute.flops;
    cost.vector_operations = compute.vector_operations;
    cost.transcendentals = compute.transcendentals;
    cost.emulated = compute.emulated;
  }

  void add_memory_time(InstructionCost& cost, const ComputeSummary& compute) {
    for (size_t i = 0; i < device_.memory.size(); ++i)
      cost.busy[index_of(memory_.unit_of(i))] += memory_.busy(i, cost.traffic[i]);
    const Traffic& hbm = cost.traffic[memory_.hbm()];
    add_moves(cost.busy, compute, hbm, memory_, core_);
    Picoseconds latency = core_.dma_latency(hbm.read.count() > 0, hbm.written.count() > 0);
    if (compute.scattered_accesses > 0) {
      const auto accesses = static_cast<double>(compute.scattered_accesses);
      // Each is a transfer of its own: issued one by one, never shorter than a full-rate run.
      cost.busy[index_of(Unit::kScalar)] += core_.time(core_.issue_cycles(accesses));
      if (hbm.total().count() > 0) {
        const Bytes runs = core_.scattered_bytes(accesses);
        Picoseconds& busy = cost.busy[index_of(memory_.unit_of(memory_.hbm()))];
        busy = std::max(busy, memory_.busy(memory_.hbm(), {runs, Bytes(0)}));
        const Picoseconds all = core_.latency_in_flight(accesses, latency);
        fixed_.is_scattered = all > latency;
        latency = std::max(latency, all);
      }
    }
    fixed_.instruction = device_.overhead.instruction, fixed_.latency = latency;
  }

  /// Null on a device without windows.
  const TimedKernel* add_blocks(InstructionCost& cost, const ComputeSummary& compute,
                                const Instruction& instruction) {
    const TimedKernel* const planned = planner_.add(cost, compute, instruction);
    if (!planned) return nullptr;
    fixed_.kernel = ceil_picoseconds(planned->time.time), fixed_.latency = Picoseconds(0);
    if (!planned->kernel.uses_dma()) fixed_.instruction = Picoseconds(0);
    return planned;
  }

  /// Infeed and outfeed: what moves in HBM comes or goes over PCIe.
  void add_host_time(InstructionCost& cost) {
    const Bytes bytes = cost.traffic[memory_.hbm()].total();
    Picoseconds& host = cost.busy[index_of(Unit::kHost)];
    host = later(host, duration(bytes, device_.host.pcie.bandwidth));
    fixed_.latency = later(fixed_.latency, device_.host.pcie.latency);
  }

  CostCategory category_of(const InstructionCost& cost, const ComputeSummary& compute,
                           const Instruction& instruction, const OpDef& def) const {
    const bool fused = fused_.part_of(instruction) == FusedPart::kWhole && !compute.has_matmul;
    if (def.has(kCollective) || fused) return CostCategory::kCollective;
    if (def.has(kHostTransfer)) return CostCategory::kHost;
    if (compute.has_matmul) return CostCategory::kMatmul;
    // Profilers count a fusion that only moves data as a loop of the vector unit, and as data movement only
    // instructions outside of fusions.
    const bool loop = def.has(kFusion) && cost.padded_bytes.count() > 0;
    if (compute.has_vector || loop) return CostCategory::kVector;
    if (instruction.find(AttrKey::kCustomCallTarget)) return CostCategory::kCustomCall;
    return cost.padded_bytes.count() > 0 ? CostCategory::kData : CostCategory::kControl;
  }

  void finish(InstructionCost& cost, const ComputeSummary& compute) {
    find_longest_unit(cost);
    // The smallest fusion pays for its latencies; longer ones pay for them on top.
    if (const Traffic& hbm = cost.traffic[memory_.hbm()]; hbm.total().count() > 0)
      fixed_.smallest = min_kernel_time(hbm, core_),
      fixed_.unloaded_latency_credit = unloaded_latency_credit(hbm, core_);
    fixed_.longest = cost.stream;
    cost.fixed = fixed_.total();
    if (cost.fixed > cost.stream) cost.bound_by = Unit::kOverhead;
    cost.provenance = provenances_.of(cost, compute, fixed_);
  }

  const Module& module_;
  ShapePool& shapes_;
  const OpTable& table_;
  const DeviceConfig& device_;
  Recorder& recorder_;
  const CostOptions& options_;
  AssumptionList& assumptions_;
  Core core_;
  MemorySystem memory_;
  Provenances provenances_;
  InstructionKernels planner_;
  KernelBodies kernels_;
  FusedCollectives fused_;
  FusionSummaries fusions_;
  FixedTime fixed_;  // of the instruction at hand
};

}  // namespace

void find_longest_unit(InstructionCost& cost) {
  const auto longest = std::ranges::max_element(cost.busy);
  cost.stream = *longest;
  cost.bound_by = cost.stream.count() > 0 ? static_cast<Unit>(longest - cost.busy.begin()) : Unit::kNone;
}

Picoseconds FixedTime::total() const {
  const Picoseconds own =
      later(kernel - std::min(kernel, longest), later(instruction, later(latency, fused_done))) -
      unloaded_latency_credit;
  return std::max(own, smallest - std::min(longest, smallest));
}

namespace {

/// The instructions that run as such (InstructionCosts).
std::vector<InstructionId> costed_instructions(const Module& module, const OpTable& table) {
  std::vector<InstructionId> ids;
  ids.reserve(module.instructions.size());
  for (const FlowComputation& flow : flow_computations(module, table, FlowReach::kBeside))
    for (const InstructionId id : module[flow.id].instructions)
      if (!table[module[id].opcode].has(kFree)) ids.push_back(id);
  return ids;
}

Result<void> check_spaces(const Device& device) {
  if (device.config.memory.size() <= kMaxMemorySpaces) return {};
  return failure(fmt::format("device \"{}\" has {} memory spaces; at most {} are supported",
                             device.config.name, device.config.memory.size(), kMaxMemorySpaces));
}

}  // namespace

Result<InstructionCost> record_cost(const Module& module, const OpTable& table, const Device& device,
                                    const CostOptions& options, InstructionId id, CostRecorder& recorder) {
  if (Result<void> checked = check_spaces(device); !checked) return tl::unexpected(checked.error());
  AssumptionList assumptions;
  ShapePool shapes = module.shapes().copy();
  return CostModel(module, shapes, table, device, options, assumptions, recorder).cost(id);
}

Result<void> record_costs(const Module& module, const OpTable& table, const Device& device,
                          const CostOptions& options, CostRecorder& recorder) {
  if (Result<void> checked = check_spaces(device); !checked) return checked;
  AssumptionList assumptions;
  ShapePool shapes = module.shapes().copy();
  CostModel model(module, shapes, table, device, options, assumptions, recorder);
  for (const InstructionId id : costed_instructions(module, table)) model.cost(id);
  return {};
}

namespace {

class KeptDetails : public CostRecorder {
 public:
  void work(const CostedWork& work) override {
    details.compute = work.compute, details.fixed = work.fixed;
    if (work.kernel) details.kernel = *work.kernel;
  }
  void issue(IssueKind, const InstructionCost&) override {}

  CostDetails details;
};

}  // namespace

Result<CostDetails> cost_details(const Module& module, const OpTable& table, const Device& device,
                                 const CostOptions& options, InstructionId id) {
  KeptDetails kept;
  const Result<InstructionCost> cost = record_cost(module, table, device, options, id, kept);
  if (!cost) return tl::unexpected(cost.error());
  kept.details.cost = *cost;
  return std::move(kept.details);
}

bool cost_unchanged(const Module& module, const OpTable& table, const Device& device,
                    const CostOptions& options, Picoseconds time) {
  if (!check_spaces(device)) return false;
  AssumptionList assumptions;
  NoTerms terms;
  ShapePool shapes = module.shapes().copy();
  CostModel model(module, shapes, table, device, options, assumptions, terms);
  // Called computations, transfers and collectives come on top.
  constexpr uint32_t kElsewhere =
      kFree | kCallsInline | kCollective | kAsyncStart | kAsyncUpdate | kAsyncDone;
  Picoseconds all{};
  for (const InstructionId id : module.entry_computation().instructions)
    if (!table[module[id].opcode].has(kElsewhere)) {
      all = later(all, model.cost(id).time());
      if (all >= time) return true;
    }
  return false;
}

namespace {

class Probe : public CostProbe {
 public:
  Probe(Module& module, const OpTable& table, const Device& device, const CostOptions& options)
      : options_(options), model_(module, module.shapes(), table, device, options_, assumptions_, terms_) {}
  InstructionCost cost(InstructionId id) override {
    model_.invalidate(id);
    return model_.cost(id);
  }
  InstructionCost cost_around_bodies(InstructionId id) override { return model_.cost(id); }

 private:
  CostOptions options_;
  AssumptionList assumptions_;
  NoTerms terms_;
  CostModel<NoTerms> model_;
};

}  // namespace

Result<std::unique_ptr<CostProbe>> CostProbe::make(Module& module, const OpTable& table, const Device& device,
                                                   const CostOptions& options) {
  if (Result<void> checked = check_spaces(device); !checked) return tl::unexpected(checked.error());
  return std::make_unique<Probe>(module, table, device, options);
}

namespace {

/// Costs of instructions with the same content, operands of the same shapes and the same repeated divisor,
/// computed once. Costs that add an assumption are computed each time.
class KnownCosts {
 public:
  KnownCosts(const Module& module, const OpTable& table, CostModel<NoTerms>& model,
             const AssumptionList& assumptions)
      : module_(module), table_(table), model_(model), assumptions_(assumptions) {}

  InstructionCost cost(InstructionId id) {
    const Instruction& instruction = module_[id];
    constexpr uint32_t kApart =
        kFree | kCallsInline | kCollective | kHostTransfer | kAsyncStart | kAsyncUpdate | kAsyncDone;
    if (table_[instruction.opcode].has(kApart) || model_.has_collective(instruction)) return model_.cost(id);
    words_.clear();
    if (!model_.contents().add(instruction, words_)) return model_.cost(id);
    words_.push_back(instruction.operands.size());
    for (const InstructionId operand : instruction.operands)
      words_.push_back(reinterpret_cast<uintptr_t>(module_[operand].shape));
    words_.push_back(reinterpret_cast<uintptr_t>(repeated_divisor(module_, instruction)));
    const auto [number, is_new] = sequences_.number_of(words_);
    if (is_new) costs_.emplace_back();
    std::optional<InstructionCost>& known = costs_[static_cast<size_t>(number)];
    if (known) return *known;
    const int64_t before = assumed();
    const InstructionCost cost = model_.cost(id);
    if (assumed() == before) known = cost;
    return cost;
  }

 private:
  int64_t assumed() const {
    int64_t count = 0;
    for (const Assumption& one : assumptions_.items()) count += one.count;
    return count;
  }

  const Module& module_;
  const OpTable& table_;
  CostModel<NoTerms>& model_;
  const AssumptionList& assumptions_;
  WordSequences sequences_;
  std::vector<std::optional<InstructionCost>> costs_;  // by number
  std::vector<uint64_t> words_;
};

}  // namespace

Result<InstructionCosts> cost_instructions(const Module& module, const OpTable& table, const Device& device,
                                           const CostOptions& options, AssumptionList& assumptions) {
  if (Result<void> checked = check_spaces(device); !checked) return tl::unexpected(checked.error());
  ShapePool shapes = module.shapes().copy();
  NoTerms terms;
  CostModel model(module, shapes, table, device, options, assumptions, terms);
  InstructionCosts costs(module.instructions.size());
  const std::vector<InstructionId> ids = costed_instructions(module, table);
  costs.reserve(ids.size());
  KnownCosts known(module, table, model, assumptions);
  for (const InstructionId id : ids) costs.set(id, known.cost(id));
  return costs;
}

}  // namespace hlosim
