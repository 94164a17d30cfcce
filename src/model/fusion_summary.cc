#include "model/fusion_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/saturating.h"
#include "hlo/graph.h"
#include "layout/sizes.h"
#include "model/kernel_blocks.h"
#include "ops/dataflow.h"
#include "ops/fusion_role.h"
#include "ops/infer.h"

namespace hlosim {

ComputeSummary& ComputeSummary::operator+=(const ComputeSummary& other) {
  mxu_cycles += other.mxu_cycles;
  if (other.matmul.cycles > matmul.cycles) matmul = other.matmul;
  slots += other.slots, costs |= other.costs;
  flops = Flops(saturating_add(flops.count(), other.flops.count()));
  vector_operations = saturating_add(vector_operations, other.vector_operations);
  transcendentals = saturating_add(transcendentals, other.transcendentals);
  has_matmul |= other.has_matmul, has_vector |= other.has_vector;
  emulated |= other.emulated, unmodelled |= other.unmodelled;
  scattered_accesses = saturating_add(scattered_accesses, other.scattered_accesses);
  moved_tiles += other.moved_tiles, regrouped_tiles += other.regrouped_tiles;
  regroups |= other.regroups;
  hbm_reads += other.hbm_reads, hbm_writes += other.hbm_writes;
  if (other.dominant_slots > dominant_slots) dominant_slots = other.dominant_slots, dominant = other.dominant;
  return *this;
}

IssueSlots ComputeSummary::add_conversion(const Core& core, ShapeRef array) {
  const IssueSlots conversion = core.conversion(array);
  slots += conversion;
  if (conversion.alu > 0) costs |= cost_bit(array->element_type);
  return conversion;
}

namespace {

int64_t saturated(double count) {
  return count < 9.2e18 ? static_cast<int64_t>(count) : std::numeric_limits<int64_t>::max();
}

/// Groups of one ragged product, whose sizes differ by one row.
bool are_of_one_kernel(const MatmulWork& groups, MatmulWork further) {
  if (!groups.ragged || groups.m == 0) return false;
  int64_t& shared = further.ragged_terms ? further.k : further.m;
  shared += 1;
  further.batch = groups.batch;
  return further == groups;
}

void add_matmul(ComputeSummary& sum, const MatmulWork& work, const Core& core, AssumptionList& assumptions) {
  auto rate = core.matmul_rate(work.lhs, work.rhs, work.precision);
  if (const ElementType known = core.matmul_type(); !rate && known != ElementType::kInvalid) {
    rate = core.matmul_rate(known, known, work.precision);
    assumptions.add(fmt::format("the device file has no matmul rate for {} and {}: costed as {}",
                                to_text(work.lhs), to_text(work.rhs), to_text(known)));
    sum.unmodelled = true;
  }
  if (!rate) return;
  const double cycles = core.product_of_all_cores(work, *rate);
  sum.mxu_cycles += cycles;
  if (walks_visits(work, core.device().kernel) && are_of_one_kernel(sum.matmul.work, work)) {
    sum.matmul.work.batch = saturating_add(sum.matmul.work.batch, work.batch);
    sum.matmul.cycles += cycles;
  } else if (cycles > sum.matmul.cycles) {
    sum.matmul = {work, *rate, cycles, {}, {}};
  }
  const double flops = 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.m) *
                       static_cast<double>(work.n) * static_cast<double>(work.k);
  sum.flops = Flops(saturating_add(sum.flops.count(), saturated(flops)));
  sum.has_matmul = true;
  sum.emulated |= rate->emulated;
}

/// `convert`: ALU slots per register's worth of elements to bring it into the type that enters the arrays.
ProductOperand matmul_operand(const Work& work, size_t operand, double convert, const Core& core) {
  ProductOperand result;
  const ShapeRef read = operand < work.operand_read.size() ? work.operand_read[operand] : nullptr;
  if (!read || !read->is_array()) return result;
  result.parameter = static_cast<int32_t>(operand);
  result.bytes = array_size(read);
  if (convert > 0) result.convert = convert * core.registers(read);
  return result;
}

void add_vector(ComputeSummary& sum, const VectorWork& work, const Core& core) {
  const IssueSlots slots = core.slots(work);
  sum.slots += slots;
  if (slots.alu + slots.eup + slots.xlu > 0) sum.costs |= cost_bit(work.op);
  const double most = std::max({slots.alu, slots.eup, slots.xlu});
  if (most > sum.dominant_slots) sum.dominant_slots = most, sum.dominant = work.op;
  if (!work.shape) return;
  const int64_t operations = saturated(static_cast<double>(work.shape->element_count()) * work.per_element);
  if (!is_move(work.op)) {
    sum.vector_operations = saturating_add(sum.vector_operations, operations);
    sum.has_vector = true;
  }
  const bool transcendental = work.op == VectorOp::kTranscendental ||
                              (work.op == VectorOp::kExpensive && !is_integer(work.shape->element_type));
  if (transcendental) sum.transcendentals = saturating_add(sum.transcendentals, operations);
}

/// `accesses`: how many transfers fetch it, 0 for one that streams.
AccessPattern part_of(ShapeRef part, ShapeRef whole, int64_t accesses, const Core& core) {
  const Bytes bytes = array_size(part), all = array_size(whole);
  if (part == whole || bytes >= all) return {true, all, dense_bytes(whole), {}, accesses};
  const ShortRuns runs = accesses > 1 ? ShortRuns{} : short_runs(part, whole, core);
  return {false, bytes, dense_bytes(part), runs, accesses};
}

AccessPattern whole_access() { return {.whole = true}; }

void merge(AccessPattern& into, const AccessPattern& more) {
  into.whole |= more.whole;
  add_bytes(into.padded, more.padded);
  add_bytes(into.logical, more.logical);
  into.runs += more.runs;
  into.accesses = saturating_add(into.accesses, more.accesses);
}

int64_t leaves_before(ShapeRef tuple, int64_t element) {
  int64_t count = 0;
  for (int64_t i = 0; i < element; ++i) count += leaf_count(tuple->elements[static_cast<size_t>(i)]);
  return count;
}

/// Where the value of an instruction of a body really comes from, looking through what moves nothing.
struct Origin {
  int32_t parameter = -1;  // >= 0: leaves [leaf, …) of that parameter
  int32_t leaf = 0;
  InstructionId value;  // else: the instruction that computes it
};

/// What of each value is written when it ends up in memory: mostly all of it, which takes four bytes to say.
class OutputWrites {
 public:
  void resize(size_t instructions) { at_.resize(instructions); }
  void set(InstructionId id, const AccessPattern& access) {
    const bool is_plain = access.whole && access.padded.count() == 0 && access.logical.count() == 0 &&
                          access.runs == ShortRuns{} && access.accesses == 0;
    at_[id] = is_plain ? kWhole : static_cast<int32_t>(parts_.size()) + kFirstPart;
    if (!is_plain) parts_.push_back(access);
  }
  AccessPattern operator[](InstructionId id) const {
    const int32_t at = at_[id];
    if (at >= kFirstPart) return parts_[static_cast<size_t>(at - kFirstPart)];
    return at == kWhole ? whole_access() : AccessPattern{};
  }
  /// Forgets what was set. `set_ones`: at least the instructions that something was set of.
  void clear(std::span<const InstructionId> set_ones) {
    for (const InstructionId id : set_ones) at_[id] = kNothing;
    parts_.clear();
  }

 private:
  static constexpr int32_t kNothing = 0, kWhole = 1, kFirstPart = 2;
  IdMap<InstructionId, int32_t> at_;  // one of these, or kFirstPart and the place in parts_
  std::vector<AccessPattern> parts_;
};

}  // namespace

/// Walks one body after another, each in order. The tables are the module's, shared by all bodies; what one
/// body left there doesn't change what another one, or the same one again, is found to do.
class FusionSummaries::Walk {
 public:
  explicit Walk(FusionSummaries& all)
      : module_(all.module_),
        shapes_(all.shapes_),
        table_(all.table_),
        core_(all.core_),
        assumptions_(all.assumptions_),
        done_(all) {}

  FusionSummary walk(ComputationId id) {
    const std::vector<InstructionId>& body = module_[id].instructions;
    body_ = &body;
    cover_module();
    for (const InstructionId instruction : body)
      computed_[instruction] = converted_[instruction] = false, slots_[instruction] = {};
    FusionSummary summary;
    for (const InstructionId parameter : module_[id].parameters)
      summary.parameters.emplace_back(static_cast<size_t>(leaf_count(module_[parameter].shape)));
    for (const InstructionId instruction : body) visit(instruction, summary);
    add_results(module_[id].root, summary);
    in_place_.clear(body);
    return summary;
  }

 private:
  /// Editors add instructions.
  void cover_module() {
    const size_t instructions = module_.instructions.size();
    if (origins_.size() >= instructions) return;
    origins_.resize(instructions);
    in_place_.resize(instructions);
    computed_.resize(instructions);
    converted_.resize(instructions);
    slots_.resize(instructions);
  }

  void visit(InstructionId id, FusionSummary& summary) {
    const Instruction& instruction = module_[id];
    const OpDef& def = table_[instruction.opcode];
    Origin& origin = origins_[id];
    origin = {-1, 0, id};
    if (instruction.parameter_number >= 0) {
      origin.parameter = static_cast<int32_t>(instruction.parameter_number);
    } else if (def.has(kFusion)) {
      visit_fusion(id, instruction, summary);
    } else if (instruction.literal) {
      if (instruction.shape->is_array() && instruction.shape->rank() > 0) {
        add_bytes(summary.constants.read, array_size(instruction.shape));
        add_bytes(summary.logical_constants, dense_bytes(instruction.shape));
      }
    } else if (def.has(kFree)) {
      look_through(instruction, origin);
    } else {
      visit_work(id, instruction, summary);
    }
  }

  /// A tuple keeps its own origin; its elements are found through its operands.
  void look_through(const Instruction& instruction, Origin& origin) {
    if (instruction.operands.empty()) return;
    if (const Attr* index = instruction.find(AttrKey::kIndex)) {
      const Origin& tuple = origins_[instruction.operands[0]];
      if (tuple.parameter >= 0) {
        origin = tuple;
        origin.leaf +=
            static_cast<int32_t>(leaves_before(module_[instruction.operands[0]].shape, index->integer()));
      } else if (const Instruction& made = module_[tuple.value];
                 table_[made.opcode].has(kFree) && made.shape->is_tuple() &&
                 made.operands.size() == made.shape->elements.size()) {
        origin = origins_[made.operands[static_cast<size_t>(index->integer())]];
      }
    } else if (!instruction.shape->is_tuple() || instruction.operands.size() == 1) {
      if (instruction.shape->is_tuple() == module_[instruction.operands[0]].shape->is_tuple())
        origin = origins_[instruction.operands[0]];
    }
  }

  void visit_fusion(InstructionId id, const Instruction& instruction, FusionSummary& summary) {
    const FusionSummary& inner = done_[called_of(instruction)];
    summary.compute += from_outside(inner.compute, instruction);
    slots_[id] = inner.compute.slots;
    if (inner.forwarded >= 0) {
      origins_[id] = origins_[instruction.operands[static_cast<size_t>(inner.forwarded)]];
      return;
    }
    add_bytes(summary.constants.read, inner.constants.read);
    add_bytes(summary.logical_constants, inner.logical_constants);
    for (size_t i = 0; i < instruction.operands.size() && i < inner.parameters.size(); ++i) {
      const Origin& origin = origins_[instruction.operands[i]];
      if (origin.parameter < 0) continue;
      auto& leaves = summary.parameters[static_cast<size_t>(origin.parameter)];
      for (size_t k = 0; k < inner.parameters[i].size(); ++k)
        if (static_cast<size_t>(origin.leaf) + k < leaves.size())
          merge(leaves[static_cast<size_t>(origin.leaf) + k], inner.parameters[i][k]);
    }
    computed_[id] = inner.compute.has_vector;
    if (inner.results.size() == 1) in_place_.set(id, inner.results[0]);
  }

  /// The work of a nested fusion; its parameters are named as this body's.
  ComputeSummary from_outside(ComputeSummary compute, const Instruction& fusion) const {
    for (ProductOperand* operand : {&compute.matmul.lhs, &compute.matmul.rhs}) {
      std::vector<ProductSource> sources;
      for (const ProductSource& source : operand->sources) {
        const InstructionId outside = fusion.operands[static_cast<size_t>(source.parameter)];
        add_sources(outside, source.leaf, sources);
        operand->producers += producers_of(outside);
      }
      operand->sources = std::move(sources);
      if (operand->parameter < 0) continue;
      const InstructionId outside = fusion.operands[static_cast<size_t>(operand->parameter)];
      operand->producers += producers_of(outside);
      if (origins_[outside].parameter < 0) add_sources(outside, operand->leaf, operand->sources);
      operand->parameter = origins_[outside].parameter;
      operand->leaf += origins_[outside].leaf;
    }
    return compute;
  }

  /// The parameters that leaf `leaf` of a value comes from or is computed from, each once.
  void add_sources(InstructionId value, int32_t leaf, std::vector<ProductSource>& sources) const {
    std::vector<InstructionId> open = {value};
    std::unordered_set<int32_t> seen;
    while (!open.empty()) {
      const InstructionId at = open.back();
      open.pop_back();
      if (!seen.insert(at.index).second) continue;
      const Origin& origin = origins_[at];
      if (origin.parameter < 0) {
        const std::span<const InstructionId> operands = module_[origin.value].operands;
        open.insert(open.end(), operands.begin(), operands.end());
        continue;
      }
      const ProductSource source{origin.parameter, origin.leaf + (at == value ? leaf : 0)};
      if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
    }
  }

  /// The vector work of `value` and of all that it is computed from inside this body.
  IssueSlots producers_of(InstructionId value) const {
    IssueSlots sum;
    std::vector<InstructionId> open = {value};
    std::unordered_set<int32_t> seen;
    while (!open.empty()) {
      const InstructionId at = open.back();
      open.pop_back();
      if (origins_[at].parameter >= 0 || !seen.insert(at.index).second) continue;
      sum += slots_[at];
      const std::span<const InstructionId> operands = module_[at].operands;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    return sum;
  }

  void visit_work(InstructionId id, const Instruction& instruction, FusionSummary& summary) {
    const OpContext op(module_, shapes_, instruction, table_, nullptr);
    Work work = work_of(op, core_.vector_shape());
    ComputeSummary compute = summarize_work(work, core_, assumptions_);
    if (!instruction.operands.empty())
      move_rows_on_chip(work, compute, module_[instruction.operands[0]].shape, core_);
    place(compute.matmul.lhs, instruction), place(compute.matmul.rhs, instruction);
    summary.compute += compute;
    computed_[id] = compute.has_vector;
    slots_[id] = compute.slots;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ShapeRef read = i < work.operand_read.size() ? work.operand_read[i] : nullptr;
      const Origin& origin = origins_[instruction.operands[i]];
      if (compute.has_vector && read) slots_[id] += convert(instruction.operands[i], read, summary);
      if (read && origin.parameter < 0) narrow_slice(instruction.operands[i], read, summary);
      if (!read || origin.parameter < 0) continue;
      add_read(summary.parameters[static_cast<size_t>(origin.parameter)], static_cast<size_t>(origin.leaf),
               read, module_[instruction.operands[i]].shape, i == 0 ? work.scattered_accesses : 0);
    }
    in_place_.set(id, result_access(instruction, work));
  }

  /// Of `value`, which is made here, only `read` is read: where it is a slice of a parameter, perhaps under
  /// other dimensions, and nothing else reads it, the rest of the slice is not fetched.
  void narrow_slice(InstructionId value, ShapeRef read, FusionSummary& summary) const {
    const ShapeRef seen = module_[value].shape;
    if (!seen->is_array() || !read->is_array() || array_size(read) >= array_size(seen)) return;
    while (fusion_role(table_, module_[value]) == FusionRole::kReindex &&
           module_[value].operands.size() == 1) {
      if (!has_one_reader(value)) return;
      value = module_[value].operands[0];
    }
    const Instruction& slice = module_[value];
    if (fusion_role(table_, slice) != FusionRole::kPart || !has_one_reader(value)) return;
    const ShapeRef source = module_[slice.operands[0]].shape;
    const Origin& from = origins_[slice.operands[0]];
    // Other dimensions may have other padding.
    if (from.parameter < 0 || array_size(slice.shape) != array_size(seen)) return;
    AccessPattern& access =
        summary.parameters[static_cast<size_t>(from.parameter)][static_cast<size_t>(from.leaf)];
    if (access.whole || part_of(slice.shape, source, 0, core_).runs != ShortRuns{}) return;
    access.padded -= array_size(seen) - array_size(read);
    access.logical -= dense_bytes(seen) - dense_bytes(read);
  }

  bool has_one_reader(InstructionId value) const {
    int64_t readers = 0;
    for (const InstructionId id : *body_) readers += std::ranges::count(module_[id].operands, value);
    return readers == 1;
  }

  /// An operand of the body's product: from which parameter, if it comes from one as it stands.
  void place(ProductOperand& operand, const Instruction& instruction) const {
    if (operand.parameter < 0) return;
    const InstructionId id = instruction.operands[static_cast<size_t>(operand.parameter)];
    operand.parameter = origins_[id].parameter;
    operand.leaf = origins_[id].leaf;
    if (operand.parameter < 0) {
      add_sources(id, 0, operand.sources);
      operand.producers = producers_of(id);
    }
    if (computed_[origins_[id].parameter >= 0 ? id : origins_[id].value]) operand.convert = 0;
  }

  /// Values that no vector operation computed are converted once, where the first one takes them up.
  IssueSlots convert(InstructionId operand, ShapeRef read, FusionSummary& summary) {
    const InstructionId value = origins_[operand].parameter >= 0 ? operand : origins_[operand].value;
    if (computed_[value] || converted_[value]) return {};
    converted_[value] = true;
    return summary.compute.add_conversion(core_, read);
  }

  void add_read(std::vector<AccessPattern>& leaves, size_t first, ShapeRef read, ShapeRef operand,
                int64_t accesses) const {
    if (!operand->is_tuple()) {
      if (operand->is_array() && first < leaves.size())
        merge(leaves[first], part_of(read, operand, accesses, core_));
      return;
    }
    for (size_t k = 0; k < static_cast<size_t>(leaf_count(operand)) && first + k < leaves.size(); ++k)
      leaves[first + k].whole = true;
  }

  /// What is written when the value ends up in memory: a part only where the rest is already there, in a
  /// parameter that the operand comes from that is changed in place, or that isn't read.
  AccessPattern result_access(const Instruction& instruction, const Work& work) {
    if (!instruction.shape->is_array() || !work.result_written || work.result_written == instruction.shape ||
        !work.result_written->is_array())
      return whole_access();
    AccessPattern written = part_of(work.result_written, instruction.shape, 0, core_);
    const std::vector<InPlacePair> pairs = in_place_pairs(module_, instruction);
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const bool in_place = std::ranges::any_of(
          pairs, [&](const InPlacePair& pair) { return pair.operand == static_cast<int64_t>(i); });
      if (!in_place && (i >= work.operand_read.size() || work.operand_read[i])) continue;
      if (module_[instruction.operands[i]].shape->element_count() != instruction.shape->element_count())
        continue;
      const Origin& origin = origins_[instruction.operands[i]];
      if (origin.parameter >= 0) return written;
      AccessPattern below = in_place_[origin.value];
      if (below.whole || module_[origin.value].parameter_number >= 0) return whole_access();
      merge(below, written);
      return below;
    }
    return whole_access();
  }

  void add_results(InstructionId root, FusionSummary& summary) {
    const Instruction& instruction = module_[root];
    const bool is_tuple = instruction.shape->is_tuple() && table_[instruction.opcode].has(kFree) &&
                          instruction.operands.size() == instruction.shape->elements.size() &&
                          !instruction.find(AttrKey::kIndex);
    if (is_tuple) {
      for (const InstructionId element : instruction.operands) add_result(element, summary);
    } else {
      add_result(root, summary);
      const Origin& origin = origins_[root];
      if (origin.parameter >= 0 && instruction.shape->is_array() && origin.leaf == 0 &&
          summary.parameters[static_cast<size_t>(origin.parameter)].size() == 1)
        summary.forwarded = origin.parameter;
    }
  }

  void add_result(InstructionId id, FusionSummary& summary) {
    const Origin& origin = origins_[id];
    const ShapeRef shape = module_[id].shape;
    if (origin.parameter >= 0) {  // handed through: copied
      auto& leaves = summary.parameters[static_cast<size_t>(origin.parameter)];
      for (size_t k = 0; k < static_cast<size_t>(leaf_count(shape)); ++k)
        if (static_cast<size_t>(origin.leaf) + k < leaves.size())
          leaves[static_cast<size_t>(origin.leaf) + k].whole = true;
    } else if (computed_[origin.value] && shape->is_array()) {
      summary.compute.add_conversion(core_, shape);
    }
    const AccessPattern access = origin.parameter >= 0 ? whole_access() : in_place_[origin.value];
    if (shape->is_array()) {
      summary.results.push_back(access.whole || access.padded.count() == 0 ? whole_access() : access);
    } else {
      summary.results.insert(summary.results.end(), static_cast<size_t>(leaf_count(shape)), whole_access());
    }
  }

  static ComputationId called_of(const Instruction& instruction) {
    return instruction.find(AttrKey::kCalls)->computations()[0];
  }

  const Module& module_;
  ShapePool& shapes_;
  const OpTable& table_;
  const Core& core_;
  AssumptionList& assumptions_;
  const FusionSummaries& done_;
  const std::vector<InstructionId>* body_ = nullptr;  // that is walked
  IdMap<InstructionId, Origin> origins_;
  OutputWrites in_place_;
  IdMap<InstructionId, uint8_t> computed_;  // by vector operations, hence in 32 bits
  IdMap<InstructionId, uint8_t> converted_;
  IdMap<InstructionId, IssueSlots> slots_;  // of each instruction, conversions of what it takes up included
};

ComputeSummary summarize_work(const Work& work, const Core& core, AssumptionList& assumptions) {
  ComputeSummary sum;
  for (const MatmulWork& matmul : work.matmuls) add_matmul(sum, matmul, core, assumptions);
  if (sum.matmul.cycles > 0) {
    MatmulPart& part = sum.matmul;
    part.lhs = matmul_operand(work, 0, part.rate.lhs_convert, core);
    part.rhs = matmul_operand(work, 1, part.rate.rhs_convert, core);
    if (part.rate.emulated && work.result_written) sum.add_conversion(core, work.result_written);
  }
  // A kernel that goes by visits counts additions, masks and transposed operands by its tiles.
  const bool by_visits = !work.matmuls.empty() && walks_visits(work.matmuls.front(), core.device().kernel);
  for (const VectorWork& vector : work.vectors)
    if (!by_visits || (vector.op != VectorOp::kGroupStore && vector.op != VectorOp::kGroupTurn))
      add_vector(sum, vector, core);
  sum.scattered_accesses = work.scattered_accesses;
  sum.moved_tiles = work.moved_tiles;
  sum.regroups = work.regroups;
  if (work.regroups) sum.regrouped_tiles = work.moved_tiles;
  if (!work.unmodelled.empty()) {
    sum.unmodelled = true;
    assumptions.add(fmt::format("{}: bytes-only estimate (no compute model)", work.unmodelled));
  }
  return sum;
}

void move_rows_on_chip(Work& work, ComputeSummary& compute, ShapeRef table, const Core& core) {
  const bool is_gather = work.scattered_accesses > 1 && !work.operand_read.empty() && work.operand_read[0] &&
                         table->is_array() && !table->is_unbounded();
  if (!is_gather || !core.has_windows()) return;
  const DeviceConfig& device = core.device();
  const Bytes bytes = array_size(table);
  const MemorySpace* space = device.memory_space(table->memory_space());
  if (space != &device.hbm() || bytes > core.vmem_budget() || bytes > array_size(work.operand_read[0]))
    return;
  if (work.result_written && work.result_written == work.operand_read[0] && !work.vectors.empty())
    work.result_written = table;  // a scatter
  work.operand_read[0] = table;
  work.scattered_accesses = 0;
  compute.scattered_accesses = 0;
  compute.regrouped_tiles = std::max(compute.regrouped_tiles, compute.moved_tiles);
}

namespace {

IdMap<ComputationId, uint8_t> bodies_of_fusions(const Module& module, const OpTable& table) {
  IdMap<ComputationId, uint8_t> is_body(module.computations.size());
  for (const Instruction& instruction : module.instructions)
    if (table[instruction.opcode].has(kFusion))
      for_each_called(instruction, [&](ComputationId id) { is_body[id] = true; });
  return is_body;
}

}  // namespace

FusionSummaries::FusionSummaries(const Module& module, ShapePool& shapes, const OpTable& table,
                                 const Core& core, AssumptionList& assumptions)
    : module_(module),
      shapes_(shapes),
      table_(table),
      core_(core),
      assumptions_(assumptions),
      is_body_(bodies_of_fusions(module, table)),
      contents_(module, is_body_),
      index_(module.computations.size(), -1),
      is_anew_(module.computations.size()) {
  if (std::ranges::count(is_body_, 1) == 0) return;
  Walk walk(*this);
  std::unordered_map<int32_t, int32_t> known;  // by number
  for (const ComputationId id : callees_first(module)) {
    if (!is_body_[id]) continue;
    const int32_t number = contents_[id], next = static_cast<int32_t>(summaries_.size());
    if (const auto same = known.find(number); number >= 0 && same != known.end()) {
      index_[id] = same->second;
      continue;
    }
    index_[id] = next;
    summaries_.push_back(walk.walk(id));
    // Assumptions count each body that is not modelled.
    if (!summaries_.back().compute.unmodelled) known.emplace(number, next);
  }
}

FusionSummaries::~FusionSummaries() = default;

void FusionSummaries::invalidate(ComputationId body) {
  for (const InstructionId id : module_[body].instructions)
    if (table_[module_[id].opcode].has(kFusion))
      for_each_called(module_[id], [&](ComputationId inner) { invalidate(inner); });
  if (!walk_) walk_ = std::make_unique<Walk>(*this);
  FusionSummary summary = walk_->walk(body);
  if (!is_anew_[body]) index_[body] = static_cast<int32_t>(summaries_.size()), summaries_.emplace_back();
  is_anew_[body] = true;
  summaries_[static_cast<size_t>(index_[body])] = std::move(summary);
}

}  // namespace hlosim
