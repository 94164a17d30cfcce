// The kernels of instructions without a body of their own: which of their bytes stream past which units, in
// which blocks, and how long that takes.
//
//   InstructionKernels kernels(module, core, memory);
//   kernels.add(cost, compute, instruction)->time.time        // cost.busy: of its units in these blocks
#pragma once

#include <optional>
#include <unordered_map>

#include "hlo/module.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"
#include "model/kernel_blocks.h"
#include "model/memory_system.h"

namespace hlosim {

class InstructionKernels {
 public:
  /// All outlive the object.
  InstructionKernels(const Module& module, const Core& core, const MemorySystem& memory)
      : module_(module), core_(core), memory_(memory) {}

  /// Requires: `cost` has the traffic and busy times of an instruction whose operands are each read once.
  /// Post: bytes that blocks bring in again are traffic, busy times are those of the blocks. Returns the
  /// kernel, valid until the next call; null on a device without windows, where units and DMA overlap
  /// completely and each operand comes in once.
  const TimedKernel* add(InstructionCost& cost, const ComputeSummary& compute,
                         const Instruction& instruction);

 private:
  /// Everything that the kernel of a product depends on.
  struct ProductKey {
    ProductWork work;
    std::optional<GivenBlocks> given;
    bool operator==(const ProductKey&) const = default;
  };
  struct ProductHash {
    size_t operator()(const ProductKey& key) const;
  };

  int channel_of(size_t space) const;
  double alu_picoseconds(double slots) const { return core_.picoseconds(core_.alu_cycles(slots)); }
  ShapeRef array_of(const ProductSource& source, const Instruction& instruction) const;
  ProductInput place(const ProductOperand& operand, const Instruction& instruction, size_t& space) const;
  void read_again(InstructionCost& cost, size_t space, const ProductInput& input, double times) const;
  StreamWork stream_of(const InstructionCost& cost, const ComputeSummary& compute) const;
  const TimedKernel& product_of(const ProductKey& key);
  const TimedKernel& add_product(InstructionCost& cost, const ComputeSummary& compute,
                                 const Instruction& instruction, StreamWork&& all);

  const Module& module_;
  const Core& core_;
  const MemorySystem& memory_;
  std::unordered_map<ProductKey, TimedKernel, ProductHash> products_;  // models repeat their products
  TimedKernel stream_;
};

}  // namespace hlosim
