// Orders in which transfers between devices and memories are hidden behind work: collectives become pairs of
// start and done, and every computation that holds such pairs is scheduled anew. docs/schedule.md has the
// rules.
//
//   Result<Module> scheduled = schedule_for_latency(module, op_table(), device);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"
#include "schedule/schedule_options.h"
#include "schedule/space_bytes.h"

namespace hlosim {

/// A copy, collective or computation that runs beside the TensorCore, before and after.
struct ScheduledTransfer {
  std::string before;       // its start, or the synchronous collective
  std::string start, done;  // afterwards
  AsyncKind kind = AsyncKind::kNone;
  int64_t executions = 0;
  Picoseconds duration{};  // of one execution, as are the others
  Picoseconds exposed_before{}, exposed_after{};
};

struct SchedulePeak {
  std::string space;
  Bytes before{}, after{};
  std::optional<Bytes> limit;
};

struct LatencySchedule {
  Module module;  // is_scheduled=true
  Picoseconds time_before{}, time_after{};
  Picoseconds exposed_before{}, exposed_after{};  // of copies, collectives and others, all executions
  std::vector<ScheduledTransfer> transfers;       // in order of start
  std::vector<SchedulePeak> peaks;                // of the memory spaces in use
  int64_t computations = 0;                       // that hold asynchronous work
  int64_t rescheduled = 0;                        // of them: those that run in a new order
  int64_t reruns = 0;                             // because of the memory limit
  int64_t exceeded_limits = 0;  // times that dependencies left no way but to exceed an overlap limit
  bool kept_input = false;      // the module as it was is as fast
  /// An order that takes less time needed more on-chip memory than there is, and was taken in part at most.
  bool short_on_chip = false;
  /// With less room on the chip, but no less than this in each space, the schedule is the same.
  SpaceBytes room_needed;
};

/// Splits and schedules. Nothing that computes is changed; the result verifies, and with keep_faster it takes
/// no longer than the module did, nor more of any memory space than there is or the module took: where an
/// order would, parts of the computation keep the one that they had. Requires: a verified module. Errors:
/// those of simulate().
Result<LatencySchedule> tune_schedule(const Module& module, const OpTable& table, const Device& device,
                                      const LatencyScheduleOptions& options = {});

/// The module of tune_schedule().
Result<Module> schedule_for_latency(const Module& module, const OpTable& table, const Device& device,
                                    const LatencyScheduleOptions& options = {});

}  // namespace hlosim
