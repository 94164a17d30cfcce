#include "model/instruction_kernels.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/hash.h"
#include "base/rounding.h"
#include "layout/shape.h"
#include "layout/sizes.h"
#include "model/window_config.h"

namespace hlosim {
namespace {

/// Subtracts an operand's bytes from the streamed bytes beside the product, at most all of them.
void take(ProductInput& operand, BlockTraffic& other) {
  if (operand.channel < 0) return;
  double& there = other.in[static_cast<size_t>(operand.channel)];
  operand.bytes = std::min(operand.bytes, there);
  there -= operand.bytes;
}

/// Sets the picoseconds of bundles that the vector unit takes for each operand of a product, and for its
/// results. A bundle has vpu.alus vector operations, a push to each transcendental unit and an operation of
/// each cross-lane unit; those of a product also feed the arrays and pop their results.
void add_bundles(const Core& core, const ComputeSummary& compute, ProductWork& work) {
  const MatmulPart& part = compute.matmul;
  // For emulated types the vector work is conversions, whose time was fitted without bundles.
  if (part.rate.emulated) return;
  IssueSlots rest = compute.slots;
  for (const IssueSlots& operand : {part.lhs.producers, part.rhs.producers})
    rest.alu -= operand.alu, rest.eup -= operand.eup, rest.xlu -= operand.xlu;
  const auto bundles = [&](const IssueSlots& slots) { return core.picoseconds(core.bundle_cycles(slots)); };
  work.lhs.bundles = bundles(part.lhs.producers), work.rhs.bundles = bundles(part.rhs.producers);
  work.epilogue_bundles = bundles(rest);
}

/// Busy picoseconds of a unit over all steps. Only ragged products have steps with different work.
double unit_time(const Kernel& kernel, bool is_ragged, double UnitWork::*unit) {
  if (!is_ragged) return kernel.works.front().*unit;
  double time = 0;
  for (const StepClass& step : kernel.steps) {
    const UnitWork& work = kernel.works[step.work];
    time += step.count * (work.*unit) / work.steps;
  }
  return time;
}

}  // namespace

int InstructionKernels::channel_of(size_t space) const {
  return space == kUnknownSpace ? -1 : core_.channel_of(&core_.device().memory[space]);
}

/// The array that `source` names; null: there is none.
ShapeRef InstructionKernels::array_of(const ProductSource& source, const Instruction& instruction) const {
  if (source.parameter < 0 || static_cast<size_t>(source.parameter) >= instruction.operands.size())
    return nullptr;
  ShapeRef found = nullptr;
  int32_t leaf = 0;
  for_each_leaf(module_[instruction.operands[static_cast<size_t>(source.parameter)]].shape,
                [&](ShapeRef shape) {
                  if (leaf++ == source.leaf && shape->is_array()) found = shape;
                });
  return found;
}

/// An operand computed inside the fusion counts as read from HBM, except for its sources in other memories.
ProductInput InstructionKernels::place(const ProductOperand& operand, const Instruction& instruction,
                                       size_t& space) const {
  space = memory_.hbm();
  double bytes = as_double(operand.bytes.count());
  if (const ShapeRef shape = array_of({operand.parameter, operand.leaf}, instruction))
    space = memory_.space_of(shape->memory_space());
  if (operand.parameter < 0) {
    Bytes from_hbm{};
    std::optional<size_t> elsewhere;
    for (const ProductSource& source : operand.sources) {
      const ShapeRef shape = array_of(source, instruction);
      if (!shape) continue;
      const size_t at = memory_.space_of(shape->memory_space());
      if (at == memory_.hbm())
        from_hbm = Bytes(std::min(from_hbm.count() + array_size(shape).count(), kMostBytes.count()));
      else if (!elsewhere)
        elsewhere = at;
    }
    if (elsewhere) bytes = std::min(bytes, as_double(from_hbm.count()));
    if (elsewhere && from_hbm.count() == 0) space = *elsewhere, bytes = as_double(operand.bytes.count());
  }
  return {bytes, static_cast<int8_t>(channel_of(space))};
}

/// Adds the traffic of operand bytes that are read several times.
void InstructionKernels::read_again(InstructionCost& cost, size_t space, const ProductInput& operand,
                                    double times) const {
  if (operand.channel < 0 || times <= 1) return;
  const double more = std::min(operand.bytes * (times - 1), as_double(kMostBytes.count()));
  add_bytes(cost.traffic[space].read, Bytes(static_cast<int64_t>(more)));
  Picoseconds& busy = cost.busy[index_of(memory_.unit_of(space))];
  busy = std::max(busy, memory_.busy(space, cost.traffic[space]));
}

StreamWork InstructionKernels::stream_of(const InstructionCost& cost, const ComputeSummary& compute) const {
  StreamWork work;
  const std::vector<MemorySpace>& spaces = core_.device().memory;
  for (size_t i = 0; i < spaces.size(); ++i) {
    const int channel = channel_of(i);
    if (channel < 0) continue;
    work.bytes.in[static_cast<size_t>(channel)] = as_double(cost.traffic[i].read.count());
    work.bytes.out[static_cast<size_t>(channel)] = as_double(cost.traffic[i].written.count());
  }
  const auto busy = [&](Unit unit) { return as_double(cost.busy[index_of(unit)].count()) * core_.cores(); };
  work.units.vpu = alu_picoseconds(compute.slots.alu);
  work.units.eup = busy(Unit::kEup);
  work.units.xlu = busy(Unit::kXlu);
  work.units.scalar = busy(Unit::kScalar);
  work.units.copies = busy(Unit::kHost);
  if (const size_t vmem = memory_.space_of(1); vmem != kUnknownSpace)
    work.units.ports = busy(memory_unit(vmem));
  // Instructions that only rearrange elements use the largest blocks that fit into VMEM.
  work.in_few_blocks = compute.regroups && !compute.has_vector && !compute.has_matmul;
  return work;
}

size_t InstructionKernels::ProductHash::operator()(const ProductKey& key) const {
  Fnv1a hash;
  const ProductWork& work = key.work;
  const UnitWork& units = work.other.units;
  for (const int64_t number : {work.matmul.batch, work.matmul.m, work.matmul.n, work.matmul.k,
                               work.rate.cadence.count(), work.rate.passes})
    hash.add_word(static_cast<uint64_t>(number));
  for (const double number : {work.lhs.bytes, work.lhs.bundles, work.rhs.bytes, work.rhs.bundles,
                              work.further_mxu, work.epilogue_bundles, units.vpu, units.ports})
    hash.add_word(std::bit_cast<uint64_t>(number));
  for (const auto& channels : {work.other.bytes.in, work.other.bytes.out})
    for (const double bytes : channels) hash.add_word(std::bit_cast<uint64_t>(bytes));
  return hash.value() ^ (hash.value() >> 32);
}

const TimedKernel& InstructionKernels::product_of(const ProductKey& key) {
  const auto [place, is_new] = products_.try_emplace(key);
  if (is_new)
    place->second =
        key.work.matmul.ragged ? ragged_kernel(core_, key.work) : product_kernel(core_, key.work, key.given);
  return place->second;
}

const TimedKernel& InstructionKernels::add_product(InstructionCost& cost, const ComputeSummary& compute,
                                                   const Instruction& instruction, StreamWork&& all) {
  const MatmulPart& part = compute.matmul;
  size_t lhs_space = 0, rhs_space = 0;
  ProductKey key;
  ProductWork& work = key.work;
  work.matmul = part.work, work.rate = part.rate;
  work.other = std::move(all);
  work.lhs = place(part.lhs, instruction, lhs_space);
  work.rhs = place(part.rhs, instruction, rhs_space);
  take(work.lhs, work.other.bytes), take(work.rhs, work.other.bytes);
  work.lhs.convert = alu_picoseconds(part.lhs.convert);
  work.rhs.convert = alu_picoseconds(part.rhs.convert);
  add_bundles(core_, compute, work);
  work.further_mxu = core_.picoseconds((compute.mxu_cycles - part.cycles) * core_.cores());
  // Groups of one row more or less are a product of their own: alike in cycles.
  if (part.work.ragged) work.groups = as_double(part.work.batch) * compute.mxu_cycles / part.cycles;
  if (const Attr* config = instruction.find(AttrKey::kBackendConfig))
    key.given = given_blocks(config->text());
  const TimedKernel& planned = product_of(key);
  read_again(cost, lhs_space, work.lhs, planned.kernel.lhs_times);
  read_again(cost, rhs_space, work.rhs, planned.kernel.rhs_times);
  cost.busy[index_of(Unit::kMxu)] =
      ceil_picoseconds(unit_time(planned.kernel, work.matmul.ragged, &UnitWork::mxu));
  return planned;
}

const TimedKernel* InstructionKernels::add(InstructionCost& cost, const ComputeSummary& compute,
                                           const Instruction& instruction) {
  if (!core_.has_windows()) return nullptr;
  StreamWork work = stream_of(cost, compute);
  if (compute.matmul.cycles <= 0) stream_ = stream_kernel(core_, work);
  const TimedKernel& planned =
      compute.matmul.cycles > 0 ? add_product(cost, compute, instruction, std::move(work)) : stream_;
  const bool is_ragged = compute.matmul.cycles > 0 && compute.matmul.work.ragged;
  cost.busy[index_of(Unit::kVpu)] = ceil_picoseconds(unit_time(planned.kernel, is_ragged, &UnitWork::vpu));
  return &planned;
}

}  // namespace hlosim
