// Collectives that a module hands to the SparseCores: which they are, and what the SparseCores take for them.
//
//   const SparseCoreWork offloads(module, table);
//   auto cost = cost_collective(op, device, slice, grid, assumptions);
//   if (offloads.has(id)) drive_by_sparse_cores(*cost, instruction, device, assumptions);
//   cost->launch, cost->driver, cost->driving  // are those of the SparseCores
//
// A SparseCore starts its collective, sends on what arrives and adds up what it reduces; the TensorCore goes
// on meanwhile. docs/timing_model.md has the equations.
#pragma once

#include <cstdint>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "interconnect/collective_cost.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// What a module's text gives to the SparseCores: computations of their thread, what async starts with
/// "sparsecore" among their attributes call, and instructions whose own attributes name them.
class SparseCoreWork {
 public:
  SparseCoreWork(const Module& module, const OpTable& table);
  bool has(InstructionId id) const;

 private:
  const Module& module_;
  IdMap<ComputationId, uint8_t> given_;
};

/// The same collective with SparseCores as its driver. A device without any: the TensorCore drives it, which
/// is an assumption.
void drive_by_sparse_cores(CollectiveCost& cost, const Instruction& collective, const DeviceConfig& device,
                           AssumptionList& assumptions);

}  // namespace hlosim
