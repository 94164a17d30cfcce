#include "exec/cluster.h"

#include <algorithm>

#include "cpu_kernels/strided_copy.h"
#include "evaluate/data_movement_evaluation.h"
#include "exec/cluster_build.h"
#include "exec/lifetimes.h"

namespace hlosim {
namespace {

// An iota of several dimensions is a view of its one row of numbers. Adds a node for each such row, before
// the iota, and returns what the iotas are.
std::vector<std::pair<ValueId, Seen>> count_rows(ComputationGraph& graph, Module& module,
                                                 const OpTable& table) {
  std::vector<std::pair<ValueId, Seen>> views;
  std::vector<GraphNode> nodes;
  for (GraphNode& node : graph.nodes) {
    const OpContext op(module, *node.instruction, table, nullptr);
    const int64_t along = node.evaluation ? -1 : counted_dimension(op);
    if (along >= 0 && is_plain_array(op.shape()) && op.shape()->dim(along) < op.shape()->element_count()) {
      const int64_t length[] = {op.shape()->dim(along)};
      GraphNode row;
      row.evaluation = count_evaluation(op.shape()->element_type, length[0]);
      if (row.evaluation) {
        row.instruction = node.instruction;
        row.keep = true;
        row.results = {static_cast<ValueId>(graph.values.size())};
        graph.values.push_back({module.shapes().array(op.shape()->element_type, length), {}});
        const auto dimensions = op.shape()->dimensions;
        StridedView view{
            0, {dimensions.begin(), dimensions.end()}, std::vector<int64_t>(dimensions.size(), 0)};
        view.strides[static_cast<size_t>(along)] = 1;
        views.emplace_back(node.results[0], Seen{row.results[0], std::move(view)});
        nodes.push_back(std::move(row));
      }
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  return views;
}

// A view that is needed in memory, copied straight from the base.
GraphNode copied_view(const GraphNode& node, const Seen& seen, ShapeRef shape) {
  GraphNode copy = node;
  if (!node.operands.empty() && seen.base == node.operands[0]) return copy;
  copy.operands = {seen.base};
  if (!seen.view) {
    copy.evaluation = [](Invocation& call) { call.set_result(call.take(0)); };
    return copy;
  }
  const int64_t width = byte_width(shape->element_type);
  const StridedView& view = *seen.view;
  copy.reused.clear();
  copy.evaluation = [strided =
                         StridedCopy(view.dimensions, view.strides, dense_strides(view.dimensions), width),
                     offset = view.offset * width](Invocation& call) {
    strided.run(call.operand(0).bytes() + offset, call.make_result().bytes());
  };
  return copy;
}

// ── the graph anew ──────────────────────────────────────────────

class Rewriter {
 public:
  Rewriter(const ComputationGraph& graph, const ValueViews& views, const Groups& groups, Module& module,
           const OpTable& table, const std::vector<bool>& separate)
      : graph_(graph),
        views_(views),
        groups_(groups),
        module_(module),
        table_(table),
        separate_(separate),
        done_(graph.nodes.size(), false) {}

  /// The nodes in their new order; `origins`: the first of the old nodes that each stands for.
  std::vector<GraphNode> make(std::vector<NodeIndex>& origins) {
    find_outputs();
    for (NodeIndex n = 0; n < graph_.nodes.size(); ++n) {
      if (may_join(groups_.roles[n])) {
        const auto& group = groups_.groups[groups_.group_of[n]].nodes;
        if (group.back() == n) emit(group[0]);
      } else if (groups_.roles[n] != NodeRole::kUnneeded) {
        emit(n);
      }
    }
    origins = std::move(origins_);
    return std::move(nodes_);
  }

 private:
  // Values that leave their group.
  void find_outputs() {
    leaves_.assign(graph_.values.size(), false);
    for (const ValueId value : graph_.results) leaves_[value] = true;
    for (NodeIndex n = 0; n < graph_.nodes.size(); ++n)
      for_each_input(n, [&](ValueId value) {
        const NodeIndex from = groups_.producers[value];
        const bool inside = from != kNoNode && may_join(groups_.roles[n]) && may_join(groups_.roles[from]) &&
                            groups_.group_of[n] == groups_.group_of[from];
        if (!inside) leaves_[value] = true;
      });
  }

  template <class F>
  void for_each_input(NodeIndex n, F&& f) const {
    const GraphNode& node = graph_.nodes[n];
    switch (groups_.roles[n]) {
      case NodeRole::kUnneeded:
        return;
      case NodeRole::kView:
        return f(views_[node.results[0]].base);
      case NodeRole::kFixed:
        for (const ValueId operand : node.operands) f(operand);
        return;
      case NodeRole::kElementwise:
      case NodeRole::kFold:
        for (size_t i = 0; i < node.operands.size(); ++i)
          f(separate_[n] ? node.operands[i] : read_by(node, groups_.roles[n], i, views_).base);
    }
  }

  // `n` and before it what it waits for. A group is named by its first node.
  void emit(NodeIndex n) {
    if (may_join(groups_.roles[n])) n = groups_.groups[groups_.group_of[n]].nodes[0];
    if (done_[n]) return;
    done_[n] = true;
    const auto emit_inputs = [&](NodeIndex of) {
      for_each_input(of, [&](ValueId value) {
        if (groups_.producers[value] != kNoNode) emit(groups_.producers[value]);
      });
    };
    const GraphNode& node = graph_.nodes[n];
    if (may_join(groups_.roles[n])) {
      const Group& group = groups_.groups[groups_.group_of[n]];
      for (const NodeIndex member : group.nodes) emit_inputs(member);
      nodes_.push_back(is_plain(n) ? node : joined(group));
    } else {
      emit_inputs(n);
      nodes_.push_back(groups_.roles[n] == NodeRole::kView
                           ? copied_view(node, views_[node.results[0]], graph_.values[node.results[0]].shape)
                           : node);
    }
    origins_.push_back(n);
  }

  // A pass would be no other than the operation itself.
  bool is_plain(NodeIndex n) const {
    if (groups_.groups[groups_.group_of[n]].nodes.size() > 1) return false;
    const GraphNode& node = graph_.nodes[n];
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (!separate_[n] && read_by(node, groups_.roles[n], i, views_).base != node.operands[i]) return false;
    return true;
  }

  GraphNode joined(const Group& group) const {
    std::vector<ValueId> outputs;
    for (const NodeIndex member : group.nodes) {
      const ValueId value = graph_.nodes[member].results[0];
      if (leaves_[value]) outputs.push_back(value);
    }
    const ClusterContext context{graph_, views_, groups_, module_, table_};
    return group.rows > 0 ? make_row_pass(context, group, outputs) : make_pass(context, group, outputs);
  }

  const ComputationGraph& graph_;
  const ValueViews& views_;
  const Groups& groups_;
  Module& module_;
  const OpTable& table_;
  const std::vector<bool>& separate_;
  std::vector<bool> done_, leaves_;
  std::vector<GraphNode> nodes_;
  std::vector<NodeIndex> origins_;
};

}  // namespace

void make_clusters(ComputationGraph& graph, Module& module, const OpTable& table, ProgramServices& services) {
  int64_t most = Lifetimes(graph, graph.nodes).peak().bytes;
  std::vector<GraphNode> as_given = graph.nodes;
  const auto iotas = count_rows(graph, module, table);
  for (const auto& [value, seen] : iotas)
    most += data_bytes(graph.values[seen.base].shape);  // which it needs anyway
  const ValueViews views(graph, module, table, iotas);
  std::vector<bool> separate(graph.nodes.size(), false);
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const Groups groups = find_groups(graph, views, module, table, services, separate);
    std::vector<NodeIndex> origins;
    std::vector<GraphNode> nodes = Rewriter(graph, views, groups, module, table, separate).make(origins);
    const Lifetimes lifetimes(graph, nodes);
    const PeakBytes peak = lifetimes.peak();
    if (peak.bytes <= most) {
      graph.nodes = std::move(nodes);
      return;
    }
    // Take apart what runs at the peak, and what waits with operands that are there already.
    bool found = false;
    for (size_t n = peak.node; n < nodes.size(); ++n) {
      if (!may_join(groups.roles[origins[n]])) continue;
      const bool waits =
          n == peak.node || std::any_of(nodes[n].operands.begin(), nodes[n].operands.end(),
                                        [&](ValueId v) { return lifetimes.spans(v, peak.node); });
      if (!waits) continue;
      for (const NodeIndex member : groups.groups[groups.group_of[origins[n]]].nodes) {
        found = found || !separate[member];
        separate[member] = true;
      }
    }
    if (!found) break;
  }
  graph.nodes = std::move(as_given);
}

}  // namespace hlosim
