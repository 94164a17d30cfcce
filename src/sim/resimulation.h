// Simulated time of one module again and again, after edits of its layouts: what these don't change is found
// once, and nothing is recorded but totals.
//
//   Result<std::unique_ptr<Resimulation>> again = Resimulation::make(module, table, device, options);
//   … edits of shapes, copies, bitcasts; costs.set(changed, probe->cost(changed)) …
//   (*again)->run(costs, false)->makespan          // that of simulate(module, …).totals
#pragma once

#include <memory>
#include <optional>

#include "interconnect/collective_costs.h"
#include "interconnect/offload.h"
#include "model/fused_collectives.h"
#include "sim/simulate.h"

namespace hlosim {

/// simulate() where the costs of the module's instructions are at hand, whatever order these are in: those of
/// cost_instructions(), with what it assumed.
Result<Simulation> simulate(const Module& module, const OpTable& table, const Device& device,
                            const SimulateOptions& options, InstructionCosts costs,
                            const AssumptionList& of_costs);

class Resimulation {
 public:
  /// All outlive the object. Errors: as simulate().
  static Result<std::unique_ptr<Resimulation>> make(Module& module, const OpTable& table,
                                                    const Device& device, const SimulateOptions& options);

  /// `costs`: those of cost_instructions() for the module as it is now. `other_bodies`: fusions with
  /// collectives inside have other bodies than in the last run. Post: the totals of simulate(), but for
  /// `cycles`, `lower_bound` and `bound_by`. Requires: computations call those that they called when this was
  /// made; the same collectives and asynchronous operations are there. Errors: as simulate().
  Result<Totals> run(const InstructionCosts& costs, bool other_bodies);

 private:
  Resimulation(Module& module, const OpTable& table, const Device& device, const SimulateOptions& options)
      : module_(module),
        table_(table),
        device_(device),
        options_(options),
        offloads_(module, table),
        fused_(std::in_place, module, table) {}

  Module& module_;
  const OpTable& table_;
  const Device& device_;
  SimulateOptions options_;
  Offloads offloads_;
  std::optional<FusedCollectives> fused_;
  Slice slice_;
  DeviceGrid grid_;
  std::unique_ptr<CollectiveCosts> collectives_;
  std::vector<ComputationId> callees_first_;
};

}  // namespace hlosim
