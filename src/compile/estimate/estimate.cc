#include "estimate/estimate.h"

namespace hlosim {
namespace {

Result<Estimate> with_memory(Prepared prepared, const Device& device, Result<Simulation> simulation) {
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  const Module& ran = *prepared.module;
  AssumptionList assumptions = std::move(prepared.assumptions);
  assumptions.add_all(simulation->assumptions);
  Occupancy occupancy = memory_occupancy(ran, device.config, simulation->schedule.order);
  if (!occupancy.unknown.empty()) assumptions.add("what memory holds is left out: " + occupancy.unknown);
  simulation->assumptions = std::move(assumptions);
  return Estimate{std::move(prepared.module), prepared.is_lowered,
                  std::move(prepared.spread), std::make_shared<const Simulation>(std::move(*simulation)),
                  std::move(occupancy),       prepared.unpartitioned_devices};
}

}  // namespace

Result<Estimate> estimate(Prepared prepared, const OpTable& table, const Device& device,
                          const SimulateOptions& options) {
  Result<Simulation> simulation = simulate(*prepared.module, table, device, options);
  return with_memory(std::move(prepared), device, std::move(simulation));
}

Result<Estimate> estimate(const Module& module, const OpTable& table, const Device& device,
                          const EstimateOptions& options) {
  Result<Prepared> prepared = prepare(module, table, device, options);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  std::optional<Simulation> known = std::move(prepared->simulation);
  if (!known || options.simulate.keep_timeline || !options.simulate.go_on())
    return estimate(std::move(*prepared), table, device, options.simulate);
  return with_memory(std::move(*prepared), device, std::move(*known));
}

}  // namespace hlosim
