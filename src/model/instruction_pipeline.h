// Brings the block pipeline (model/pipeline.h) into the cost of an instruction: which of its bytes stream
// past which units, and what of that doesn't overlap.
//
//   const InstructionPipeline pipeline(module, core, memory);
//   pipeline.add(cost, compute, instruction);      // cost.fixed: what doesn't overlap
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "hlo/module.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"
#include "model/memory_system.h"
#include "model/pipeline.h"

namespace hlosim {

class InstructionPipeline {
 public:
  /// All outlive the object.
  InstructionPipeline(const Module& module, const Core& core, const MemorySystem& memory);

  /// Requires: `cost` has the traffic and busy times of an instruction whose operands are each read once.
  /// Post: bytes that blocks bring in again are traffic, busy times are those of the blocks, `fixed` is what
  /// the whole takes beyond the longest of them, `pipeline` says how.
  void add(InstructionCost& cost, const ComputeSummary& compute, const Instruction& instruction);

 private:
  /// Everything that the plan of a product depends on.
  using PlanKey = std::array<double, 33>;
  struct PlanHash {
    size_t operator()(const PlanKey& key) const;
  };

  /// 0 HBM, 1 the on-chip memory that is neither HBM nor VMEM, -1 what needs no DMA.
  int channel_of(size_t space) const;
  double alu_picoseconds(double slots) const;
  ShapeRef array_of(const ProductSource& source, const Instruction& instruction) const;
  PipelineOperand place(const ProductOperand& operand, const Instruction& instruction, size_t& space) const;
  void read_again(InstructionCost& cost, size_t space, const PipelineOperand& operand, double times) const;
  PipelineTask task_of(const InstructionCost& cost, const ComputeSummary& compute) const;
  const PipelinePlan& plan(const PipelineTask& task, const std::optional<GivenBlocks>& given);

  const Module& module_;
  const Core& core_;
  const MemorySystem& memory_;
  size_t vmem_ = kUnknownSpace, other_ = kUnknownSpace;
  PipelineModel model_;
  std::unordered_map<PlanKey, PipelinePlan, PlanHash> products_;  // models repeat their products
  PipelinePlan stream_;
};

}  // namespace hlosim
