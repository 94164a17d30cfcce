// Which computations get memory of which kind, and the order in which ties between their buffers are decided.
//
//   const Result<AssignmentOrder> order = assignment_order(graph);
//   for (const RankedComputation& one : order->global) …          // control flow
//   for (const RankedComputation& one : order->thread_local_ones) …  // reducers and the like
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "memory/module_graph.h"

namespace hlosim {

struct RankedComputation {
  ComputationId id;
  int32_t first_position = 0;               // of its first instruction, counted through all of one kind
  std::vector<InstructionId> instructions;  // operands first
};

struct AssignmentOrder {
  std::vector<RankedComputation> global;             // run as control flow
  std::vector<RankedComputation> thread_local_ones;  // run once per element; without the bodies of fusions
};

/// Errors: a computation that is run both ways.
Result<AssignmentOrder> assignment_order(const ModuleGraph& graph);

}  // namespace hlosim
