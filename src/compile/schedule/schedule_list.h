// XLA's latency-hiding list scheduler: from the end of a computation to its beginning, always the best of the
// instructions whose users have been placed. Or from its beginning, when asked for.
//
//   const ListSchedule best = schedule_list(graph, memory.get(), limits, options);
//   if (best.exceeded_limits == 0) computation.instructions = best.order;
#pragma once

#include <vector>

#include "schedule/schedule_graph.h"
#include "schedule/space_bytes.h"

namespace hlosim {

struct ListSchedule {
  std::vector<InstructionId> order;  // first to last
  /// Times that a resource limit had to be exceeded because dependencies leave no other way.
  int64_t exceeded_limits = 0;
  /// The least limits of each space with which no choice would be another one, if the limits were at least
  /// these. Beyond a limit: what it holds mattered.
  SpaceBytes needed;
};

/// `limits`: bytes that each memory space should hold at most; without `memory` they mean nothing.
/// Time: O(n · r), r instructions ready at a time. docs/schedule.md has the rules.
ListSchedule schedule_list(const ScheduleGraph& graph, const ScheduleMemory* memory, const SpaceBytes& limits,
                           const LatencyScheduleOptions& options);

}  // namespace hlosim
