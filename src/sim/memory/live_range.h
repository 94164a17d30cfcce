// From when to when each value has to be kept, in steps of the flattened schedule.
//
//   const std::vector<LiveRange> ranges = live_ranges(graph, places, values, buffers, schedule);
//   for (const LiveRange& range : ranges)
//     if (range.known() && range.start <= step && step <= range.end) ++alive;
#pragma once

#include <cstdint>
#include <vector>

#include "memory/aliased.h"
#include "memory/flat_schedule.h"

namespace hlosim {

/// Both ends belong to it. The end of the schedule, one past the last step, belongs to what outlives the run.
struct LiveRange {
  int32_t start = 0, end = -1;  // end < start: the value is made by something that isn't scheduled
  Place last = kNoPlace;        // where the value is seen last
  bool known() const { return end >= start; }
};

/// By value, the instructions of which the last one is its last user. They are the same ones in whatever
/// order the module runs.
struct LastUsers {
  std::vector<size_t> first;         // in `users`, by value, and the end of the last; empty: not found yet
  std::vector<InstructionId> users;  // value by value
};

/// By value. Ranges of values that share a buffer follow one another. `users`: found here if they aren't
/// known yet, for the next order of the same module.
std::vector<LiveRange> live_ranges(const ModuleGraph& graph, const Places& places, const Values& values,
                                   const AliasedBuffers& buffers, const FlatSchedule& schedule,
                                   LastUsers* users = nullptr);

/// The step with the most bytes, counted as XLA does: each value with the bytes of the whole shape of the
/// instruction that makes it, tables included, one step longer than it lives where something ends as
/// another thing starts.
int32_t peak_step(const Places& places, const Values& values, const Module& module,
                  const std::vector<LiveRange>& ranges);

}  // namespace hlosim
