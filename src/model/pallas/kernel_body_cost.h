// The Kernel of a Pallas kernel's body, and how long it takes on a device. While a step works, DMA brings the
// blocks of the next step and takes those of the one before. A window with one buffer waits instead of
// overlapping. Cores share the dimensions of the grid that are parallel. docs/kernel_bodies.md has more.
//
//   const KernelBodyCost cost = kernel_body_cost(body, device);
//   cost.busy[index_of(Unit::kMxu)], cost.time
#pragma once

#include <string>
#include <vector>

#include "model/device.h"
#include "model/instruction_cost.h"
#include "model/kernel_time.h"
#include "mosaic/kernel_body.h"
#include "ops/work.h"

namespace hlosim {

struct KernelBodyCost {
  TimedKernel planned;  // its works are KernelBody::works
  UnitTimes busy{};
  Picoseconds time{};       // of all steps, first and last blocks included
  Bytes read{}, written{};  // HBM
  Flops flops{};
  int64_t vector_operations = 0, transcendentals = 0;
  Bytes vmem{};                            // needed
  Bytes vmem_allowed{};                    // 0: the device says nothing
  int64_t cores = 1;                       // that share the grid
  uint64_t costs = 0;                      // as ComputeSummary::costs
  bool is_emulated = false;                // the MXU doesn't know the element type of a product
  MatmulWork product;                      // element types and precision of the first product
  std::vector<Picoseconds> unknown_loops;  // one round of each of KernelBody::unknown_loops
};

/// `scoped_vmem`: the limit that the program was compiled with; 0: the device's.
KernelBodyCost kernel_body_cost(const mosaic::KernelBody& body, const DeviceConfig& device,
                                Bytes scoped_vmem = {});

}  // namespace hlosim
