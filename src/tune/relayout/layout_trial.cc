#include "relayout/layout_trial.h"

#include <algorithm>

#include "hlo/graph.h"
#include "model/fused_collectives.h"
#include "model/memory_system.h"
#include "ops/dataflow.h"
#include "ops/divisor.h"

namespace hlosim {

LayoutTrials::LayoutTrials(LayoutProblem& problem, LayoutCosts& layout_costs, const OpTable& table)
    : problem_(problem), layout_costs_(layout_costs), table_(table), costs_(0) {}

Result<std::unique_ptr<LayoutTrials>> LayoutTrials::make(LayoutProblem& problem, LayoutCosts& layout_costs,
                                                         const OpTable& table, const Device& device,
                                                         const SimulateOptions& options) {
  std::unique_ptr<LayoutTrials> trials(new LayoutTrials(problem, layout_costs, table));
  Module& module = problem.module();
  auto simulation = Resimulation::make(module, table, device, options);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  trials->simulation_ = std::move(*simulation);
  auto probe = CostProbe::make(module, table, device, {options.custom_calls});
  if (!probe) return tl::unexpected(std::move(probe.error()));
  trials->probe_ = std::move(*probe);
  trials->hbm_ = MemorySystem(device.config).hbm();
  // What runs beside the rest keeps the layouts that it was given.
  const std::vector<ComputationId>& in_order = problem.groups().computations();
  for (const FlowComputation& flow : flow_computations(module, table, FlowReach::kBeside)) {
    if (std::ranges::find(in_order, flow.id) != in_order.end()) continue;
    for (const InstructionId id : module[flow.id].instructions)
      if (!table[module[id].opcode].has(kFree)) trials->beside_.emplace_back(id, trials->probe_->cost(id));
  }
  const FusedCollectives fused(module, table);
  for (const ComputationId computation : in_order)
    for (const InstructionId id : module[computation].instructions)
      if (!fused.of(module[id]).empty()) trials->with_collectives_.push_back(id);
  return trials;
}

void LayoutTrials::write(const LayoutChoice& choice) {
  choice_ = choice;
  layout_costs_.apply_outside(choice);
  for (const InstructionId id : with_collectives_) layout_costs_.apply_inside(id, choice);
}

InstructionCost LayoutTrials::cost_now(InstructionId id) {
  const bool is_fusion = dataflow(problem_.module()[id].opcode).is_fusion;
  if (is_fusion && std::ranges::find(with_collectives_, id) == with_collectives_.end())
    layout_costs_.apply_inside(id, choice_);
  return probe_->cost(id);
}

void LayoutTrials::fill_key(InstructionId id) {
  const Module& module = problem_.module();
  const Instruction& instruction = module[id];
  const auto number = [](int64_t value) { return reinterpret_cast<const void*>(value); };
  key_.clear();
  // A copy has no body or attributes: it costs what its shapes do, whichever it is.
  key_.push_back(number(problem_.edit().is_copy(id) ? -1 : id.index));
  key_.push_back(number(static_cast<int64_t>(instruction.opcode)));
  key_.push_back(instruction.shape);
  for (const InstructionId operand : instruction.operands) key_.push_back(module[operand].shape);
  const std::span<const InstructionId> operands = instruction.operands;
  for (size_t k = 1; k < operands.size(); ++k) {
    const auto end = operands.begin() + static_cast<std::ptrdiff_t>(k);
    const auto first = std::find(operands.begin(), end, operands[k]);
    if (first != end) key_.push_back(number(static_cast<int64_t>(k << 32) | (first - operands.begin())));
  }
  if (const ShapeRef few = repeated_divisor(module, instruction)) key_.push_back(few);
}

/// A table of costs has room for so many instructions, and never forgets a cost.
void LayoutTrials::make_room() {
  constexpr size_t kMostSet = 4;  // times the instructions
  const size_t instructions = problem_.module().instructions.size();
  if (instructions <= room_ && set_ <= kMostSet * room_) return;
  room_ = instructions + instructions / 8 + 100;
  set_ = beside_.size();
  costs_ = InstructionCosts(room_);
  key_of_.assign(room_, {});
  for (const auto& [id, cost] : beside_) costs_.set(id, cost);
}

void LayoutTrials::update_costs() {
  const Module& module = problem_.module();
  make_room();
  for (const ComputationId computation : problem_.groups().computations())
    for (const InstructionId id : module[computation].instructions) {
      if (table_[module[id].opcode].has(kFree)) continue;
      fill_key(id);
      Key& last = key_of_[static_cast<size_t>(id.index)];
      if (key_ == last) continue;
      const auto [known, is_new] = known_.try_emplace(key_);
      if (is_new) known->second = cost_now(id);
      costs_.set(id, known->second), ++set_;
      last = key_;
    }
}

Result<LayoutFigures> LayoutTrials::figures() {
  update_costs();
  const Result<Totals> totals = simulation_->run(costs_, !with_collectives_.empty());
  if (!totals) return tl::unexpected(totals.error());
  LayoutFigures figures;
  figures.time = totals->makespan;
  figures.hbm = totals->traffic[hbm_].total();
  figures.padding = totals->padded_bytes - totals->logical_bytes;
  return figures;
}

}  // namespace hlosim
