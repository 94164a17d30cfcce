// How long the body of a kernel takes on a device: its pipeline over the grid.
//
//   time = what comes for the first step + Σ over the steps of max(work, what comes for the next and goes of
//          the one before) + what goes after the last one
//
// A step's work is the longest of its units, and what every step of a grid costs; a window with one buffer
// waits instead of overlapping.
// Dimensions that are parallel are shared by the cores. docs/kernel_bodies.md has the equations.
//
//   const KernelBodyCost cost = kernel_body_cost(body, device);
//   cost.busy[index_of(Unit::kMxu)], cost.time
#pragma once

#include <string>
#include <vector>

#include "model/device.h"
#include "model/instruction_cost.h"
#include "mosaic/kernel_body.h"

namespace hlosim {

/// Of one kind of step, one core.
struct KernelStepTimes {
  double mxu = 0, vpu = 0, eup = 0, xlu = 0, scalar = 0, vmem = 0, copies = 0;  // picoseconds
  double begin = 0;  // a step of a grid begins, and waits for its first product
  /// The longest unit and `begin`.
  double whole() const;
};

struct KernelBodyCost {
  UnitTimes busy{};
  Picoseconds time{};       // all of it, from the first block's coming to the last one's going
  Bytes read{}, written{};  // HBM
  Flops flops{};
  int64_t vector_operations = 0, transcendentals = 0;
  Bytes vmem{};                        // needed
  Bytes vmem_allowed{};                // 0: the device says nothing
  int64_t cores = 1;                   // that share the grid
  std::vector<KernelStepTimes> steps;  // by KernelBody::works
  bool is_emulated = false;            // the MXU doesn't know the element type of a product
};

/// `scoped_vmem`: the limit that the program was compiled with; 0: the device's.
KernelBodyCost kernel_body_cost(const mosaic::KernelBody& body, const DeviceConfig& device,
                                Bytes scoped_vmem = {});

}  // namespace hlosim
