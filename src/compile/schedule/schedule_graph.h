// What has to come before what in one computation, how long it takes, and what is in flight meanwhile.
//
//   const ScheduleCosts costs = simulated_costs(module, simulation);
//   for (const ScheduleNode::Edge& edge : graph.nodes[i].after)
//     earliest[edge.node] = std::max(earliest[edge.node], end + edge.latency);
#pragma once

#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "schedule/schedule_memory.h"
#include "schedule/schedule_options.h"
#include "sim/simulate.h"

namespace hlosim {

/// Times of one unit: picoseconds, or those of XLA's approximate model.
struct ScheduleCosts {
  IdMap<InstructionId, int64_t> cost;     // of the TensorCore, without what it calls up beside it
  IdMap<InstructionId, int64_t> latency;  // from an asynchronous start to its done
  int64_t edge = 1;                       // from any other instruction to its users
};

ScheduleCosts approximate_costs(const Module& module, const OpTable& table);
/// `result`: the module simulated in an order in which every done comes as soon after its start as possible.
ScheduleCosts simulated_costs(const Module& module, const Simulation& result);

struct ScheduleNode {
  struct Edge {
    int32_t node = 0;
    int64_t latency = 0;
  };
  InstructionId id;
  int64_t cost = 0;
  std::vector<Edge> before, after;
  AsyncKind starts = AsyncKind::kNone, ends = AsyncKind::kNone;  // of a start; of the done
  std::vector<AsyncKind> inside;                                 // in flight in what it calls
  bool is_free = false;                                          // takes no time: goes where its users are
  int32_t async_depth = 0;                                       // dones on the way to it, most
  int32_t depth = 0;                                             // instructions on the way to it, most
};

/// Nodes stand in the order in which the computation runs now.
struct ScheduleGraph {
  ComputationId computation;
  std::vector<ScheduleNode> nodes;
};

/// The same with time running backwards: what comes before comes after, starts are dones.
ScheduleGraph mirrored(const ScheduleGraph& graph);

/// Besides operands and control predecessors these keep their order: instructions that use state of the
/// device, and those that read a buffer before another one writes it.
ScheduleGraph make_schedule_graph(const Module& module, const OpTable& table, ComputationId id,
                                  const ScheduleCosts& costs, const ScheduleMemory* memory,
                                  const LatencyScheduleOptions& options);

}  // namespace hlosim
