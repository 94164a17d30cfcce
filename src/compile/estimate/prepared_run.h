// What preparing a module comes upon that running it needs as well. Internal to src/compile/estimate.
//
//   std::optional<Simulation> run;
//   const Result<Prepared> prepared = prepare(module, table, device, options, run);
//   if (run) …                                     // prepared->module was simulated on the way
#pragma once

#include <optional>

#include "estimate/prepared.h"

namespace hlosim {

/// As prepare(); `run` is set where the module that comes out was simulated with `options.simulate`, but
/// without a timeline.
Result<Prepared> prepare(const Module& module, const OpTable& table, const Device& device,
                         const EstimateOptions& options, std::optional<Simulation>& run);

}  // namespace hlosim
