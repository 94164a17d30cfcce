#include "buffers/assignment_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim {
namespace {

enum Kind : uint8_t { kUnreached = 0, kGlobal = 1, kThreadLocal = 2 };

/// From the entry on: what a computation of one kind calls.
IdMap<ComputationId, uint8_t> kinds_of(const ModuleGraph& graph, IdMap<ComputationId, uint8_t>& is_fusion) {
  const Module& module = graph.module();
  IdMap<ComputationId, uint8_t> kinds(module.computations.size(), kUnreached);
  std::vector<std::pair<ComputationId, Kind>> work = {{module.entry, kGlobal}};
  while (!work.empty()) {
    const auto [id, kind] = work.back();
    work.pop_back();
    if (kinds[id] & kind) continue;
    kinds[id] |= kind;
    for (const InstructionId instruction : graph.instructions(id)) {
      const bool is_global = dataflow(module[instruction].opcode).call == CallRule::kControlFlow;
      for (const ComputationId called : called_in_order(module[instruction])) {
        if (dataflow(module[instruction].opcode).is_fusion) is_fusion[called] = 1;
        work.emplace_back(called, is_global ? kind : kThreadLocal);
      }
    }
  }
  return kinds;
}

/// Callees before callers, from the entry; a loop's body before its condition.
std::vector<ComputationId> visit_order(const ModuleGraph& graph) {
  struct Frame {
    ComputationId id;
    std::vector<ComputationId> callees;
    size_t next = 0;
  };
  const Module& module = graph.module();
  IdMap<ComputationId, uint8_t> seen(module.computations.size());
  std::vector<ComputationId> order;
  std::vector<Frame> stack;
  const auto open = [&](ComputationId id) {
    seen[id] = 1;
    Frame frame{id, {}, 0};
    for (const InstructionId instruction : graph.instructions(id))
      if (dataflow(module[instruction].opcode).value == ValueRule::kLoop) {
        const std::vector<ComputationId> called = called_in_order(module[instruction]);
        frame.callees.insert(frame.callees.end(), called.rbegin(), called.rend());
      } else {
        for (const ComputationId called : called_in_order(module[instruction]))
          frame.callees.push_back(called);
      }
    stack.push_back(std::move(frame));
  };
  for (const ComputationId start : graph.computations()) {
    if (!graph.callers(start).empty() || seen[start]) continue;
    open(start);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        order.push_back(frame.id);
        stack.pop_back();
        continue;
      }
      const ComputationId callee = frame.callees[frame.next++];
      if (!seen[callee]) open(callee);
    }
  }
  return order;
}

std::vector<RankedComputation> ranked(const ModuleGraph& graph,
                                      const std::vector<ComputationId>& computations) {
  std::vector<RankedComputation> out;
  int32_t position = 0;
  for (const ComputationId id : computations) {
    out.push_back({id, position, graph.post_order(id)});
    position += static_cast<int32_t>(out.back().instructions.size());
  }
  return out;
}

}  // namespace

Result<AssignmentOrder> assignment_order(const ModuleGraph& graph) {
  const Module& module = graph.module();
  IdMap<ComputationId, uint8_t> is_fusion(module.computations.size());
  const IdMap<ComputationId, uint8_t> kinds = kinds_of(graph, is_fusion);
  std::vector<ComputationId> visited = visit_order(graph), global, thread_local_ones;
  std::reverse(visited.begin(), visited.end());
  for (const ComputationId id : visited) {
    if (kinds[id] == (kGlobal | kThreadLocal)) {
      Diagnostic finding;
      finding.message = fmt::format(
          "computation {} is run as control flow and once per element: it can't have memory of both kinds",
          module[id].name);
      finding.source = module.source;
      finding.offset = module[id].offset;
      return tl::unexpected(std::move(finding));
    }
    if (kinds[id] == kGlobal) global.push_back(id);
    if (kinds[id] == kThreadLocal && !is_fusion[id]) thread_local_ones.push_back(id);
  }
  return AssignmentOrder{ranked(graph, global), ranked(graph, thread_local_ones)};
}

}  // namespace hlosim
