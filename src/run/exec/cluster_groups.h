// Which nodes join to one pass.
//
// Every node has a level. An edge inside a cluster keeps it, every other way out of a node that may join
// raises it by one, and nothing lowers it; what can't join stays in its order and so is an edge too:
//
//     level 0        level 0       level 1       level 1     level 1
//     p ── exp ────► · ──────────► sort ───────► log ──────► · ──► result
//          └──────────────────────────────────────────────── ▲     (exp is at level 0, waits in memory)
//
// So nodes of one level that are connected can't be waiting for each other through a third. A node that could
// as well run later moves up to the level of a consumer that it can join.
//
// Elementwise nodes join where they have as many elements. A reduce of the minor dimensions joins what it
// reads and what reads it again, spread over the rows: then the space of the cluster is `rows` × `row`
// elements, and there are nodes with an element each of them and nodes with one for each row:
//
//     x ──► reduce max ──► broadcast ──► x - · ──► exp ──► reduce add ──► broadcast ──► exp / · ──►
//           of each row                                    of each row
#pragma once

#include <optional>
#include <vector>

#include "evaluate/reduction_evaluation.h"
#include "exec/cluster_views.h"

namespace hlosim {

using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = ~NodeIndex{0};

enum class NodeRole : uint8_t {
  kFixed,  // runs as it is, in its order
  kElementwise,
  kFold,      // a reduce of rows
  kView,      // a view that is needed in memory
  kUnneeded,  // a view that all readers look through
};
constexpr bool may_join(NodeRole role) { return role == NodeRole::kElementwise || role == NodeRole::kFold; }

struct Group {
  std::vector<NodeIndex> nodes;  // operands first
  int64_t rows = 0, row = 0;     // 0: all nodes have as many elements
};

struct Groups {
  std::vector<NodeRole> roles;  // of each node
  std::vector<std::optional<RowFold>> folds;
  std::vector<Group> groups;         // of the nodes that may join
  std::vector<uint32_t> group_of;    // of each such node
  std::vector<NodeIndex> producers;  // of each value
};

/// What a node reads in memory when it runs in a pass.
Seen read_by(const GraphNode& node, NodeRole role, size_t operand, const ValueViews& views);

/// `separate`: nodes that stay alone, with all operands in memory (one flag a node).
Groups find_groups(const ComputationGraph& graph, const ValueViews& views, Module& module,
                   const OpTable& table, ProgramServices& services, const std::vector<bool>& separate);

/// Elements that the results of a node that may join have.
inline int64_t space(const ComputationGraph& graph, const GraphNode& node) {
  return graph.values[node.results[0]].shape->element_count();
}

}  // namespace hlosim
