#include "exec/lifetimes.h"

#include <algorithm>

#include "base/saturating.h"

namespace hlosim {

Lifetimes::Lifetimes(const ComputationGraph& graph, std::span<const GraphNode> nodes)
    : graph_(graph), nodes_(nodes), first_(graph.values.size(), 0), last_(graph.values.size(), 0) {
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const ValueId value : nodes[n].results) first_[value] = last_[value] = n;
    for (const ValueId value : nodes[n].operands) last_[value] = n;
  }
  for (const ValueId value : graph.results) last_[value] = nodes.size();
  for (ValueId value = 0; value < graph.values.size(); ++value)
    if (graph.values[value].constant.data) last_[value] = nodes.size();
}

int64_t Lifetimes::bytes(ValueId value) const {
  return graph_.values[value].constant.data ? 0 : data_bytes(graph_.values[value].shape);
}

// The result lies where a dying operand lay, as long as each of them is mentioned once.
bool Lifetimes::takes_over(const GraphNode& node, size_t n, size_t result) const {
  if (node.reused.empty() || node.reused[result] < 0) return false;
  const ValueId operand = node.operands[static_cast<size_t>(node.reused[result])];
  return dies(operand, n) && std::count(node.operands.begin(), node.operands.end(), operand) == 1;
}

PeakBytes Lifetimes::peak(std::span<const int64_t> callee_bytes) const {
  PeakBytes peak;
  int64_t live = 0;
  std::vector<std::vector<ValueId>> dying(nodes_.size() + 1);
  const auto add = [&](ValueId value) {
    live = saturating_add(live, bytes(value));
    dying[last_[value]].push_back(value);
  };
  for (const ValueId value : graph_.parameters) add(value);
  peak.bytes = live;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const GraphNode& node = nodes_[n];
    int64_t taken = 0;
    for (size_t i = 0; i < node.results.size(); ++i) {
      add(node.results[i]);
      if (takes_over(node, n, i)) taken += bytes(node.results[i]);
    }
    const int64_t now = saturating_add(live - taken, callee_bytes.empty() ? 0 : callee_bytes[n]);
    if (now > peak.bytes) peak = {now, n};
    for (const ValueId value : dying[n]) live -= bytes(value);
  }
  return peak;
}

}  // namespace hlosim
