// From a verified module and a device to everything a report shows.
//
//   Result<Estimate> run = estimate(module, op_table(), device, options);
//   run->simulation->totals.makespan      how long it takes
//   run->occupancy.spaces                what memory holds
#pragma once

#include <memory>

#include "base/source.h"
#include "estimate/prepared.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "memory/occupancy.h"
#include "model/device.h"
#include "sim/simulate.h"

namespace hlosim {

struct Estimate {
  std::shared_ptr<const Module> module;          // what ran
  bool is_lowered = false;                       // it is another one than the one given
  std::shared_ptr<const PartitionNotes> spread;  // null: it was not spread over devices
  std::shared_ptr<const Simulation> simulation;  // never null: reports of it share it
  Occupancy occupancy;
  int64_t unpartitioned_devices = 0;  // as Prepared's
};

/// Errors: as simulate().
Result<Estimate> estimate(Prepared prepared, const OpTable& table, const Device& device,
                          const SimulateOptions& options);

/// Prepares the module and runs that; `module` stays as it is. Requires: a verified module. Errors: as
/// prepare() and simulate().
Result<Estimate> estimate(const Module& module, const OpTable& table, const Device& device,
                          const EstimateOptions& options);

}  // namespace hlosim
