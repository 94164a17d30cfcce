// Who drives a collective, and what it takes then: the TensorCores of a device, or its SparseCores.
//
//   const SparseCoreWork offloads(module, table);
//   auto cost = cost_collective(op, device, slice, grid, assumptions);
//   drive_collective(*cost, instruction, offloads.has(id), device, assumptions);
//
// SparseCores serve all links of a chip at the same time; TensorCores send one stream, no faster than
// measured. docs/timing_model.md has the equations.
#pragma once

#include <optional>

#include "hlo/module.h"
#include "links/collective_cost.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// `is_given`: the text gives it to the SparseCores.
void drive_collective(CollectiveCost& cost, const Instruction& collective, bool is_given,
                      const DeviceConfig& device, AssumptionList& assumptions);

/// cost_collective() of what is of another kind than its opcode says (model/fused_collectives.h).
Result<CollectiveCost> cost_collective_as(std::optional<CollectiveKind> kind, const OpContext& op,
                                          const DeviceConfig& device, const Slice& slice,
                                          const DeviceGrid& grid, AssumptionList& assumptions);

/// No link between chips is used.
bool is_within_chip(const CollectiveCost& cost);

/// The same collective driven by the TensorCores.
void drive_by_tensor_cores(CollectiveCost& cost, const DeviceConfig& device);

}  // namespace hlosim
