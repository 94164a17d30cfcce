#include "model/instruction_pipeline.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/hash.h"
#include "base/rounding.h"
#include "layout/shape.h"
#include "layout/sizes.h"
#include "model/product_vector.h"
#include "model/window_config.h"

namespace hlosim {
namespace {

/// The on-chip memory beside VMEM whose traffic takes time (CMEM); kUnknownSpace without one.
size_t other_memory(const Core& core, const MemorySystem& memory) {
  for (size_t i = 0; i < core.device().memory.size(); ++i) {
    const BusRate& rates = memory.rates(i);
    if (memory.on_chip(i) && i != memory.space_of(1) && rates.read + rates.write + rates.total > 0) return i;
  }
  return kUnknownSpace;
}

std::array<DmaChannel, kDmaChannels> channels_of(const Core& core, const MemorySystem& memory) {
  std::array<DmaChannel, kDmaChannels> channels;
  const std::array<size_t, kDmaChannels> spaces = {memory.hbm(), other_memory(core, memory)};
  for (size_t i = 0; i < kDmaChannels; ++i)
    if (spaces[i] != kUnknownSpace)
      channels[i] = {memory.rates(spaces[i]).shared_by(core.cores()),
                     as_double(core.dma_latency(true, false).count()),
                     as_double(core.dma_latency(false, true).count())};
  return channels;
}

/// Takes an operand's bytes out of what streams beside the product: no more than there are.
void take(PipelineOperand& operand, BlockTraffic& other) {
  if (operand.channel < 0) return;
  double& there = other.in[static_cast<size_t>(operand.channel)];
  operand.bytes = std::min(operand.bytes, there);
  there -= operand.bytes;
}

}  // namespace

InstructionPipeline::InstructionPipeline(const Module& module, const Core& core, const MemorySystem& memory)
    : module_(module),
      core_(core),
      memory_(memory),
      vmem_(memory.space_of(1)),
      other_(other_memory(core, memory)),
      model_(core, channels_of(core, memory)) {}

int InstructionPipeline::channel_of(size_t space) const {
  return space == memory_.hbm() ? 0 : space == other_ && space != kUnknownSpace ? 1 : -1;
}

double InstructionPipeline::alu_picoseconds(double slots) const {
  return core_.picoseconds(core_.alu_cycles(slots));
}

/// The array that `source` names; null: there is none.
ShapeRef InstructionPipeline::array_of(const ProductSource& source, const Instruction& instruction) const {
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

/// What is computed inside has come from HBM, but for what it is computed from of arrays elsewhere.
PipelineOperand InstructionPipeline::place(const ProductOperand& operand, const Instruction& instruction,
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

/// Bytes of an operand that come in more than once.
void InstructionPipeline::read_again(InstructionCost& cost, size_t space, const PipelineOperand& operand,
                                     double times) const {
  if (operand.channel < 0 || times <= 1) return;
  const double more = std::min(operand.bytes * (times - 1), as_double(kMostBytes.count()));
  add_bytes(cost.traffic[space].read, Bytes(static_cast<int64_t>(more)));
  Picoseconds& busy = cost.busy[index_of(memory_.unit_of(space))];
  busy = std::max(busy, memory_.busy(space, cost.traffic[space]));
}

PipelineTask InstructionPipeline::task_of(const InstructionCost& cost, const ComputeSummary& compute) const {
  PipelineTask task;
  for (size_t i = 0; i < core_.device().memory.size(); ++i) {
    const int channel = channel_of(i);
    if (channel < 0) continue;
    task.other.in[static_cast<size_t>(channel)] = as_double(cost.traffic[i].read.count());
    task.other.out[static_cast<size_t>(channel)] = as_double(cost.traffic[i].written.count());
  }
  const double cores = core_.cores();
  for (const UnitRow& row : unit_rows())
    if (row.unit != Unit::kMxu && row.unit != Unit::kVpu)  // those two are planned
      task.others = std::max(task.others, as_double(cost.busy[index_of(row.unit)].count()) * cores);
  if (vmem_ != kUnknownSpace)  // its ports
    task.others = std::max(task.others, as_double(cost.busy[index_of(memory_unit(vmem_))].count()) * cores);
  task.vector = alu_picoseconds(compute.slots.alu);
  // What only regroups elements works on all that fits into VMEM at a time.
  task.in_few_blocks = compute.regroups && !compute.has_vector && !compute.has_matmul;
  return task;
}

size_t InstructionPipeline::PlanHash::operator()(const PlanKey& key) const {
  Fnv1a hash;
  for (const double value : key) hash.add_word(std::bit_cast<uint64_t>(value));
  return hash.value() ^ (hash.value() >> 32);
}

const PipelinePlan& InstructionPipeline::plan(const PipelineTask& task,
                                              const std::optional<GivenBlocks>& given) {
  if (!task.matmul) return stream_ = model_.plan(task);
  const MatmulWork& work = *task.matmul;
  const MatmulRate& rate = *task.rate;
  const GivenBlocks blocks = given.value_or(GivenBlocks{});
  const PlanKey key = {as_double(work.batch),
                       as_double(work.m),
                       as_double(work.n),
                       as_double(work.k),
                       work.ragged ? 1.0 : 0.0,
                       as_double(rate.rows),
                       as_double(rate.cadence.count()),
                       as_double(rate.latch_rows),
                       as_double(rate.latch_cadence.count()),
                       as_double(rate.latency.count()),
                       as_double(rate.passes),
                       task.lhs.bytes,
                       static_cast<double>(task.lhs.channel),
                       task.rhs.bytes,
                       static_cast<double>(task.rhs.channel),
                       task.extra_mxu,
                       task.lhs_convert,
                       task.rhs_convert,
                       task.other.in[0],
                       task.other.in[1],
                       task.other.out[0],
                       task.other.out[1],
                       task.vector,
                       task.others,
                       task.other_bytes,
                       task.lhs_bundles,
                       task.rhs_bundles,
                       task.epilogue_bundles,
                       as_double(blocks.m),
                       as_double(blocks.n),
                       as_double(blocks.k),
                       static_cast<double>(blocks.split),
                       given ? 1.0 : 0.0};
  const auto [place, is_new] = products_.try_emplace(key);
  if (is_new) place->second = model_.plan(task, given);
  return place->second;
}

void InstructionPipeline::add(InstructionCost& cost, const ComputeSummary& compute,
                              const Instruction& instruction) {
  PipelineTask task = task_of(cost, compute);
  // Windows of no size: units and DMA overlap completely, each operand comes in once.
  if (!core_.has_windows()) return;
  const bool uses_dma = task.other.in != BlockTraffic{}.in || task.other.out != BlockTraffic{}.out;
  const MatmulPart& part = compute.matmul;
  size_t lhs_space = 0, rhs_space = 0;
  std::optional<GivenBlocks> given;
  if (part.cycles > 0) {
    task.matmul = &part.work, task.rate = &part.rate;
    task.lhs = place(part.lhs, instruction, lhs_space);
    task.rhs = place(part.rhs, instruction, rhs_space);
    take(task.lhs, task.other), take(task.rhs, task.other);
    task.lhs_convert = alu_picoseconds(part.lhs.convert);
    task.rhs_convert = alu_picoseconds(part.rhs.convert);
    const ProductVector around = vector_around(core_, compute);
    task.lhs_bundles = around.lhs, task.rhs_bundles = around.rhs, task.epilogue_bundles = around.results;
    task.extra_mxu = core_.picoseconds((compute.mxu_cycles - part.cycles) * core_.cores());
    if (const Attr* config = instruction.find(AttrKey::kBackendConfig)) given = given_blocks(config->text());
  }
  for (size_t i = 0; i < kDmaChannels; ++i) task.other_bytes += task.other.in[i] + task.other.out[i];
  const PipelinePlan& plan = this->plan(task, given);
  if (part.cycles > 0) {
    read_again(cost, lhs_space, task.lhs, plan.lhs_times);
    read_again(cost, rhs_space, task.rhs, plan.rhs_times);
    cost.busy[index_of(Unit::kMxu)] = ceil_picoseconds(plan.mxu);
  }
  cost.busy[index_of(Unit::kVpu)] = ceil_picoseconds(plan.vector);
  const Picoseconds longest = *std::max_element(cost.busy.begin(), cost.busy.end());
  cost.fixed = std::max(ceil_picoseconds(plan.time) - longest, Picoseconds(0));
  if (uses_dma) cost.fixed = later(cost.fixed, core_.device().overhead.instruction);
  PipelineSummary& summary = cost.pipeline;
  summary.steps = plan.steps;
  summary.m = plan.block_m, summary.n = plan.block_n, summary.k = plan.block_k,
  summary.batch = plan.block_batch;
  summary.first_in = ceil_picoseconds(plan.first_in), summary.last_out = ceil_picoseconds(plan.last_out);
  summary.step_work = ceil_picoseconds(plan.step_work), summary.step_dma = ceil_picoseconds(plan.step_dma);
  summary.lhs_times = plan.lhs_times, summary.rhs_times = plan.rhs_times;
  summary.split = plan.split;
  summary.given = given.has_value() && part.cycles > 0;
}

}  // namespace hlosim
