// Who drives a collective, and what it takes then: the TensorCores of a device, or the cores beside them.
//
//   const Offloads offloads(module, table);
//   const AxisOrder order = axis_order(offloads.has(id), device);
//   auto cost = cost_collective(op, device, slice, grid, assumptions, order);
//   drive_collective(*cost, instruction, offloads.has(id), device, assumptions);
//
// Cores beside the TensorCores serve all axes of the torus at the same time; TensorCores take one after the
// other. docs/timing_model.md has the equations and what was measured.
#pragma once

#include <optional>
#include <span>

#include "hlo/module.h"
#include "interconnect/collective_cost.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// `is_given`: the text offloads it (interconnect/offload.h).
AxisOrder axis_order(bool is_given, const DeviceConfig& device);
/// On a device without cores to offload to, the TensorCore drives what is given to them, which is an
/// assumption. Post: `cost` has its driver's launch and time. Requires: it was costed by that order.
void drive_collective(CollectiveCost& cost, const Instruction& collective, bool is_given,
                      const DeviceConfig& device, AssumptionList& assumptions);

/// cost_collective() of what is of another kind than its opcode says (model/fused_collectives.h).
Result<CollectiveCost> cost_collective_as(std::optional<CollectiveKind> kind, const OpContext& op,
                                          const DeviceConfig& device, const Slice& slice,
                                          const DeviceGrid& grid, AssumptionList& assumptions,
                                          AxisOrder order = AxisOrder::kRotation);

/// No link between chips is used.
bool is_within_chip(const CollectiveCost& cost);

/// The same collective driven by the TensorCores. Requires: it was costed with the axes in turn.
void drive_by_tensor_cores(CollectiveCost& cost, const DeviceConfig& device);

/// How long the start of asynchronous collectives, one after the other, keeps the TensorCores from other
/// work: that of all-gathers which they drive waits for the first step, in which each device's own parts go
/// to its neighbour.
Picoseconds held_by_start(std::span<const CollectiveCost> costs, const DeviceConfig& device);

}  // namespace hlosim
