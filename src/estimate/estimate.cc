#include "estimate/estimate.h"

namespace hlosim {

Result<Estimate> estimate(Prepared prepared, const OpTable& table, const Device& device,
                          const SimulateOptions& options) {
  const Module& ran = *prepared.module;
  Result<Simulation> simulation = simulate(ran, table, device, options);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  AssumptionList assumptions = std::move(prepared.assumptions);
  assumptions.add_all(simulation->assumptions);
  Occupancy occupancy = memory_occupancy(ran, device.config, simulation->schedule.order);
  if (!occupancy.unknown.empty()) assumptions.add("what memory holds is left out: " + occupancy.unknown);
  simulation->assumptions = std::move(assumptions);
  return Estimate{std::move(prepared.module), prepared.is_lowered, std::move(prepared.spread),
                  std::move(*simulation), std::move(occupancy)};
}

Result<Estimate> estimate(const Module& module, const OpTable& table, const Device& device,
                          const EstimateOptions& options) {
  Result<Prepared> prepared = prepare(module, table, device, options);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  return estimate(std::move(*prepared), table, device, options.simulate);
}

}  // namespace hlosim
