#include "terms/read_keys.h"

#include <algorithm>

#include "model/kernel_blocks.h"
#include "model/memory_system.h"
#include "model/pallas/custom_call_cost_source.h"
#include "model/pallas/kernel_bodies.h"

namespace hlosim {

ReadKeys::ReadKeys(const DeviceConfig& device) : device_(device), hbm_(MemorySystem(device).hbm()) {
  for (size_t i = 0; i < kUnitCount; ++i) of_unit_[i] = unit_keys(device, static_cast<Unit>(i));
}

void ReadKeys::work(const CostedWork& work) {
  const Traffic& hbm = work.cost.traffic[hbm_];
  for (size_t i = 0; i < kUnitCount; ++i) {
    if (work.cost.busy[i].count() == 0) continue;
    keys_.add(of_unit_[i]);
    const auto unit = static_cast<Unit>(i);
    if (unit == Unit::kScalar) keys_.add(access_keys(nullptr, device_, work.compute, hbm));
    if (unit >= Unit::kMemory)
      keys_.add(access_keys(&device_.memory[i - index_of(Unit::kMemory)], device_, work.compute, hbm));
  }
  keys_.add(fixed_keys(work.fixed, hbm, work.cost.category));
  if (work.fixed.unloaded_latency_credit.count() > 0)
    keys_.add({TimeKey::kInstruction, TimeKey::kReadLatency, TimeKey::kWriteLatency});
  costs_ |= work.compute.costs;
  // Runs and moves are counted in parts of a register.
  if (work.compute.hbm_reads.runs + work.compute.hbm_writes.runs + work.compute.moved_tiles > 0)
    keys_.add({TimeKey::kLanes, TimeKey::kSublanes});
  const MatmulWork& product = work.compute.matmul.work;
  if (work.compute.matmul.cycles > 0 || work.body)
    products_.emplace(product.lhs, product.rhs, product.precision);
  if (work.kernel) add_blocks(work);
  if (work.body || work.known || work.given) add_custom_call(work);
}

void ReadKeys::add_blocks(const CostedWork& work) {
  const Kernel& kernel = work.kernel->kernel;
  if (kernel.works.front().around > 0) keys_.add({TimeKey::kAlus, TimeKey::kEupCadence, TimeKey::kEupCount});
  if (kernel.uses_dma()) keys_.add({TimeKey::kReadLatency, TimeKey::kWriteLatency});
  if (kernel.transfers == OverlapRule::kPorts) others_.emplace("dma.overlap");
  if (kernel.transfers == OverlapRule::kWindows) others_.emplace("kernel.dma_overlap");
  if (kernel.units == OverlapRule::kBundles) others_.emplace("kernel.overlap");
  if (work.compute.matmul.work.ragged) {
    others_.emplace("overhead.grid_step");  // also where a step is longer
    for (const char* key : {"kernel.ragged_walk", "kernel.served_rows", "kernel.served_buffers"})
      others_.emplace(key);
    if (walks_visits(work.compute.matmul.work, device_.kernel))
      for (const char* key : {"kernel", "mxu", "vpu", "eup", "xlu"}) others_.emplace(key);
  }
  if (kernel.blocks.m == 0) return;
  for (const char* key : {"mxu.vector_exposed", "mxu.vector_stalls"}) others_.emplace(key);
  if (kernel.blocks.given && work.compute.matmul.work.ragged) return;
  for (const char* key : {"mxu.block_rows", "mxu.block_columns", "mxu.block_depth", "kernel.ragged_rows",
                          "kernel.ragged_columns", "kernel.ragged_depth"})
    others_.emplace(key);
}

void ReadKeys::add_custom_call(const CostedWork& work) {
  keys_.add({TimeKey::kReadLatency, TimeKey::kWriteLatency, TimeKey::kInstruction});
  products_.emplace(ElementType::kBF16, ElementType::kBF16, MatmulPrecision{});
  for (const char* key : {"overhead.grid_step", "mxu", "vpu", "eup", "xlu"}) others_.emplace(key);
  if (work.known) others_.emplace("kernel");
}

void ReadKeys::issue(IssueKind kind, const InstructionCost& cost) {
  if (cost.time().count() == 0) return;
  if (kind == IssueKind::kStart)
    keys_.add({TimeKey::kIssue, TimeKey::kClock});
  else
    keys_.add(TimeKey::kInstruction);
}

std::set<std::string, std::less<>> ReadKeys::paths() const {
  std::set<std::string, std::less<>> paths = others_;
  for_each_key(device_, keys_, [&](std::string_view, const std::string& path) { paths.insert(path); });
  const auto add = [&](const auto& keys) {
    for (const auto& [name, path] : keys) paths.insert(path);
  };
  for (const Unit unit : {Unit::kVpu, Unit::kEup, Unit::kXlu}) add(cost_keys(device_, unit, costs_));
  for (const auto& [lhs, rhs, precision] : products_) {
    add(operand_keys(device_, lhs, precision, false));
    add(operand_keys(device_, rhs, precision, true));
  }
  if (costs_ != 0) paths.insert({"vpu.native_types", "vpu.reduction_window", "vpu.reduction_mask"});
  if ((costs_ & cost_bit(VectorOp::kDivide)) != 0) paths.insert("vpu.divisor_repeats");
  if ((costs_ & (cost_bit(VectorOp::kGroupStore) | cost_bit(VectorOp::kGroupTurn))) != 0)
    paths.insert("kernel.ragged_turn_columns");
  for (const char* key : {"vmem.scoped_limit", "vmem.internal_scratch", "vmem.transaction"})
    paths.insert(key);
  return paths;
}

}  // namespace hlosim
