#include "estimate/prepared.h"

#include <fmt/format.h>

#include "estimate/unpartitioned.h"
#include "lower/lower.h"
#include "lower/standard_memories.h"
#include "model/native_layouts.h"

namespace hlosim {
namespace {

Result<Prepared> lowered_and_laid_out(const Module& module, const OpTable& table, const Device& device,
                                      const EstimateOptions& options) {
  if (Result<void> measurable = check_native_sizes(module, device); !measurable)
    return tl::unexpected(std::move(measurable.error()));
  Prepared prepared;
  if (options.lowering == Lowering::kPlain && is_plain(module)) {
    Lowered lowered =
        lower_as(module, table, device, options.simulate, {}, options.compiler, options.is_late);
    if (Result<void> go_on = options.simulate.go_on(); !go_on)
      return tl::unexpected(std::move(go_on.error()));
    prepared.assumptions.add(fmt::format(
        "unoptimized HLO: hlosim applied its approximation of XLA:TPU's fusion and layout passes for {}{}",
        device.config.name, lowered.how == kLoweredByDefault ? "" : fmt::format(" ({})", lowered.how)));
    prepared.is_cut = lowered.cut;
    if (lowered.cut) prepared.assumptions.add(kLoweringWasCut);
    if (std::optional<std::string> unused = unused_on_chip(device))
      prepared.assumptions.add(std::move(*unused));
    prepared.is_lowered = true;
    prepared.written = std::make_shared<const Module>(std::move(lowered.module));
    prepared.simulation = std::move(lowered.simulation);
  } else {
    prepared.written = std::make_shared<const Module>(module.copy());
  }
  prepared.module = prepared.written;
  if (carries_tiles(*prepared.written)) return prepared;
  prepared.simulation.reset();
  LaidOut laid_out = lay_out(*prepared.written, device);
  prepared.assumptions.add_all(laid_out.assumptions);
  prepared.module = std::make_shared<const Module>(std::move(laid_out.module));
  return prepared;
}

Result<Prepared> spread_and_lowered(const Module& module, const OpTable& table, const Device& device,
                                    const EstimateOptions& options, const MeshRequest& request) {
  Result<PartitionedProgram> spread = partition_over_mesh(module, table, device, options.simulate, request);
  if (!spread) return tl::unexpected(std::move(spread.error()));
  if (Result<void> go_on = options.simulate.go_on(); !go_on) return tl::unexpected(std::move(go_on.error()));
  Result<Prepared> prepared = lowered_and_laid_out(spread->module, table, device, options);
  if (!prepared) return prepared;
  AssumptionList assumptions = std::move(spread->assumptions);
  assumptions.add_all(prepared->assumptions);
  prepared->assumptions = std::move(assumptions);
  prepared->is_lowered |= !spread->notes.was_partitioned;
  prepared->spread = std::make_shared<const PartitionNotes>(std::move(spread->notes));
  return prepared;
}

/// With products as rings or without, whichever takes less time.
Result<Prepared> faster(const Module& module, const OpTable& table, const Device& device,
                        const EstimateOptions& options) {
  MeshRequest request = *options.mesh;
  request.windowed = WindowedProducts::kAlways;
  Result<Prepared> rings = spread_and_lowered(module, table, device, options, request);
  if (!rings || !rings->spread->has_rings) return rings;
  request.windowed = WindowedProducts::kNever;
  Result<Prepared> gathers = spread_and_lowered(module, table, device, options, request);
  if (!gathers) return gathers;
  SimulateOptions quick = options.simulate;
  quick.keep_timeline = false;
  const Result<Simulation> with = simulate(*rings->module, table, device, quick);
  if (!with) return tl::unexpected(with.error());
  const Result<Simulation> without = simulate(*gathers->module, table, device, quick);
  if (!without) return tl::unexpected(without.error());
  const bool pays = with->totals.makespan < without->totals.makespan;
  Result<Prepared>& best = pays ? rings : gathers;
  best->assumptions.add(
      fmt::format("matmuls of gathered operands and with scattered sums {}: as rings the "
                  "program takes {}, else {}",
                  pays ? "run as collective matmuls" : "stay separate from their collectives",
                  to_text(with->totals.makespan), to_text(without->totals.makespan)));
  return std::move(best);
}

/// Nobody says over what the module is to be spread.
Result<Prepared> by_its_shardings(const Module& module, const OpTable& table, const Device& device,
                                  const EstimateOptions& options) {
  std::optional<MeshRequest> request = default_request(module, table);
  if (request) request = by_flags(*request, options.compiler);
  if (request && options.partitioning == Partitioning::kSharded)
    return spread_and_lowered(module, table, device, options, *request);
  Result<Prepared> prepared = lowered_and_laid_out(module, table, device, options);
  if (!prepared || !request) return prepared;
  prepared->unpartitioned_devices = request->partitions;
  AssumptionList assumptions;
  assumptions.add(fmt::format(
      "the module is sharded over {} devices and not partitioned: time and memory are those of one device "
      "that runs all of it",
      request->partitions));
  assumptions.add_all(prepared->assumptions);
  prepared->assumptions = std::move(assumptions);
  return prepared;
}

}  // namespace

Result<Prepared> prepare(const Module& module, const OpTable& table, const Device& device,
                         const EstimateOptions& options) {
  if (!options.mesh) return by_its_shardings(module, table, device, options);
  if (options.mesh->windowed == WindowedProducts::kAuto) return faster(module, table, device, options);
  return spread_and_lowered(module, table, device, options, by_flags(*options.mesh, options.compiler));
}

}  // namespace hlosim
