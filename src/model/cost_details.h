// The cost of one instruction together with what it was worked out from, for those who want to see why.
//
//   const Result<CostDetails> details = cost_details(module, table, device, {}, id);
//   details->compute.mxu_cycles                    // from which details->cost was calculated
//   details->kernel->kernel.blocks                 // in which blocks
#pragma once

#include <memory>
#include <optional>

#include "model/fusion_summary.h"
#include "model/instruction_cost.h"
#include "model/kernel_time.h"

namespace hlosim {

/// What an instruction takes beyond its longest unit:
///   fixed = max(kernel - longest, 0) + instruction + latency - idle gain, at least smallest - longest
struct FixedTime {
  Picoseconds kernel{};       // from the first blocks in to the last ones out; 0: it does not go in blocks
  Picoseconds instruction{};  // overhead.instruction, where DMA is used or there are no blocks
  Picoseconds latency{};      // of DMA without blocks, and of PCIe
  Picoseconds fused_done{};   // ici.fused_done, of a fusion that waits for a collective
  Picoseconds
      unloaded_latency_credit{};  // the latencies are those of a loaded memory, and few bytes don't load it
  Picoseconds smallest{};         // of any instruction that uses HBM
  Picoseconds longest{};          // unit, without links
  bool is_scattered = false;      // latency is that of many accesses, dma.outstanding at a time
  Picoseconds total() const;
};

struct CostDetails {
  InstructionCost cost;
  FixedTime fixed;
  ComputeSummary compute;             // empty for what only starts, waits or calls
  std::optional<TimedKernel> kernel;  // of an instruction that goes in blocks
};

/// Requires: a verified module whose arrays carry their layouts. Post: `cost` is the one of
/// cost_instructions(). Errors: as cost_instructions().
Result<CostDetails> cost_details(const Module& module, const OpTable& table, const Device& device,
                                 const CostOptions& options, InstructionId id);

/// What the TensorCore does itself in the entry computation takes `time` or longer: so does any simulation.
/// Stops at the first instruction that makes it so. False on errors of cost_instructions(). Requires: as
/// there.
bool cost_unchanged(const Module& module, const OpTable& table, const Device& device,
                    const CostOptions& options, Picoseconds time);

/// The cost of one instruction after another, for those who change shapes in between.
class CostProbe {
 public:
  /// All outlive the probe. Errors: as cost_instructions().
  static Result<std::unique_ptr<CostProbe>> make(Module& module, const OpTable& table, const Device& device,
                                                 const CostOptions& options);
  virtual ~CostProbe() = default;
  /// With the shapes that the module has now. Requires: the instruction, its operands and the bodies of the
  /// fusions that it calls are those of a verified module; no fusion has got another body since.
  virtual InstructionCost cost(InstructionId id) = 0;
  /// The same where nothing inside of fusions has another shape than when the probe was made.
  virtual InstructionCost cost_around_bodies(InstructionId id) = 0;

 protected:
  CostProbe() = default;
};

}  // namespace hlosim
