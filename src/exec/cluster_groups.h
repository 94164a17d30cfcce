// Which elementwise nodes join to one pass.
//
// Every node has a level. An edge inside a cluster keeps it, every other way out of an elementwise node raises it
// by one, and nothing lowers it; what isn't elementwise stays in its order and so is an edge too:
//
//     level 0        level 0       level 1       level 1     level 1
//     p ── exp ────► · ──────────► reduce ─────► log ──────► · ──► result
//          └──────────────────────────────────────────────── ▲     (exp is at level 0, waits in memory)
//
// So elementwise nodes of one level that are connected can't be waiting for each other through a third. A node that
// could as well run later moves up to the level of a consumer that it can join.
#pragma once

#include <vector>

#include "exec/cluster_views.h"

namespace hlosim {

using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = ~NodeIndex{0};

enum class NodeRole : uint8_t {
  kFixed,        // runs as it is, in its order
  kElementwise,
  kView,         // a view that somebody needs in memory
  kUnneeded,     // a view that everybody looks through
};

struct Groups {
  std::vector<NodeRole> roles;                 // of each node
  std::vector<std::vector<NodeIndex>> groups;  // elementwise nodes, operands first
  std::vector<uint32_t> group_of;              // of each elementwise node
  std::vector<NodeIndex> producers;            // of each value
};

/// `separate`: nodes that stay alone, with all operands in memory (one flag a node).
Groups find_groups(const ComputationGraph& graph, const ValueViews& views, Module& module, const OpTable& table,
                   const std::vector<bool>& separate);

/// Elements that the results of an elementwise node have.
inline int64_t space(const ComputationGraph& graph, const GraphNode& node) {
  return graph.values[node.results[0]].shape->element_count();
}

}  // namespace hlosim
