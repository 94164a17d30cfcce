// The schedule of a whole module in one line: computations that control flow runs stand before their caller.
//
//   const ModuleGraph graph(module);
//   const FlatSchedule schedule = flatten(graph, text_order(graph));
//   schedule.steps[0]                             // the instruction that runs first, of whatever computation
#pragma once

#include <cstdint>
#include <vector>

#include "memory/module_graph.h"

namespace hlosim {

/// Instructions of each computation in order of execution; empty for those that don't run as control flow.
using InstructionOrder = IdMap<ComputationId, std::vector<InstructionId>>;

struct FlatSchedule {
  std::vector<InstructionId> steps;
  IdMap<InstructionId, int32_t> step_of;  // -1: doesn't run as such
  struct Span {
    int32_t start = 0, end = -1;  // first step, one past the last
  };
  IdMap<ComputationId, Span>
      span_of;  // steps of a computation and what it calls; end -1: not in the schedule
  /// Of a computation that runs beside others: the wrapped computation that it is part of; else invalid.
  IdMap<ComputationId, ComputationId> async_context;

  int32_t end() const { return static_cast<int32_t>(steps.size()); }
  bool contains(ComputationId id) const { return span_of[id].end >= 0; }
};

/// Each computation once, before its first caller: the branches of a conditional in order, a loop's condition
/// before its body, what an asynchronous chain wraps before the first part that has all operands and results.
FlatSchedule flatten(const ModuleGraph& graph, const InstructionOrder& order);

/// Computations that control flow reaches from the entry, itself included.
std::vector<ComputationId> control_flow_of(const ModuleGraph& graph);
/// Their instructions as they stand in the text.
InstructionOrder text_order(const ModuleGraph& graph);

}  // namespace hlosim
