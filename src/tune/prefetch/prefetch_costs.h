// What each step of a module takes with any choice of its operands and results on the chip.
#pragma once

#include "prefetch/prefetch_model.h"

namespace hlosim {

/// Fills the costs of all steps that run as kernels, from the cost model of the device: sites are numbered as
/// the values of `model` say. Once `out_of_time` returns true the rest is missing (PrefetchModel::cut).
/// Errors: as cost_instructions().
Result<void> measure_sites(const Module& module, const OpTable& table, const Device& device,
                           PrefetchModel& model, const SimulateOptions& simulate,
                           const std::function<bool()>& out_of_time);

}  // namespace hlosim
