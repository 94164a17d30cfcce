// How long the values of a graph live, and how many bytes are alive at once.
//
//   const Lifetimes lives(graph, graph.nodes);
//   lives.dies(value, n)                           // node n is the last one to need it
//   lives.peak().bytes                             // most that is alive at once
#pragma once

#include <span>
#include <vector>

#include "exec/step_graph.h"

namespace hlosim {

struct PeakBytes {
  int64_t bytes = 0;
  size_t node = 0;  // while it runs
};

class Lifetimes {
 public:
  /// Of `nodes`, which may be others than those of the graph; both outlive this.
  Lifetimes(const ComputationGraph& graph, std::span<const GraphNode> nodes);

  /// The value is not needed after node `n` and no constant.
  bool dies(ValueId value, size_t n) const { return last_[value] == n; }
  /// The value is there before node `n` ends and needed by it or later.
  bool spans(ValueId value, size_t n) const { return first_[value] <= n && last_[value] >= n; }

  /// Bytes of arrays alive at once: arguments and what the nodes leave, no constants. `callee_bytes`: what
  /// each node's callees need beside; may be empty.
  PeakBytes peak(std::span<const int64_t> callee_bytes = {}) const;

 private:
  int64_t bytes(ValueId value) const;
  bool takes_over(const GraphNode& node, size_t n, size_t result) const;

  const ComputationGraph& graph_;
  std::span<const GraphNode> nodes_;
  std::vector<size_t> first_, last_;  // nodes
};

}  // namespace hlosim
