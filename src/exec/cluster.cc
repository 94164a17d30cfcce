#include "exec/cluster.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "exec/cluster_groups.h"
#include "exec/cluster_pass.h"
#include "exec/lifetimes.h"
#include "hlo/op_def.h"
#include "kernels/strided_copy.h"

namespace hlosim {
namespace {

// ── one group as one node ───────────────────────────────────────

class PassMaker {
 public:
  PassMaker(const ComputationGraph& graph, const ValueViews& views, Module& module, const OpTable& table)
      : graph_(graph), views_(views), module_(module), table_(table) {}

  /// `outputs`: the values needed outside.
  GraphNode make(const std::vector<NodeIndex>& group, const std::vector<ValueId>& outputs) {
    space_ = space(graph_, graph_.nodes[group[0]]);
    for (const NodeIndex n : group) apply(graph_.nodes[n]);
    for (const ValueId output : outputs) {
      builder_.output(values_.at(output));
      pass_.widths.push_back(width(output));
    }
    pass_.count = space_;
    pass_.program = builder_.finish();
    choose_reused();
    node_.reused = pass_.reused;
    node_.instruction = graph_.nodes[group.back()].instruction;
    node_.results = outputs;
    node_.keep = true;
    node_.evaluation = pass_evaluation(std::move(pass_));
    return std::move(node_);
  }

 private:
  using Value = ElementProgramBuilder::Value;

  int64_t width(ValueId value) const { return byte_width(graph_.values[value].shape->element_type); }

  void apply(const GraphNode& node) {
    std::vector<Value> operands;
    for (const ValueId operand : node.operands) operands.push_back(value_of(operand));
    const OpContext op(module_, *node.instruction, table_, nullptr);
    values_[node.results[0]] = builder_.apply(op.def().element(op), operands,
                                              graph_.values[node.results[0]].shape->element_type);
  }

  Value value_of(ValueId operand) {
    Seen seen = views_.load(operand);
    if (!seen.view) {
      const auto known = values_.find(seen.base);
      if (known != values_.end()) return known->second;
    }
    if (!seen.view) seen.view = dense_view(graph_.values[seen.base].shape->dimensions);
    const int64_t one[] = {space_};
    if (graph_.values[operand].shape->is_scalar() && space_ != 1)
      seen.view = StridedView{seen.view->offset, {one, one + 1}, {0}};
    return load(seen.base, collapsed(*seen.view));
  }

  Value load(ValueId base, const StridedView& view) {
    for (const auto& [from, known, value] : loads_)
      if (from == base && known.offset == view.offset && known.dimensions == view.dimensions &&
          known.strides == view.strides)
        return value;
    const LoadPlan plan(view, width(base));
    const ElementType type = graph_.values[base].shape->element_type;
    const Array& constant = graph_.values[base].constant;
    Value value;
    if (constant.data && (plan.is_splat() || space_ == 1)) {
      value = builder_.constant(type, constant.bytes() + view.offset * plan.width());
    } else {
      value = builder_.input(type);
      pass_.inputs.push_back({operand(base), plan});
    }
    loads_.push_back({base, view, value});
    return value;
  }

  size_t operand(ValueId base) {
    const auto found = std::find(node_.operands.begin(), node_.operands.end(), base);
    if (found == node_.operands.end()) {
      node_.operands.push_back(base);
      return node_.operands.size() - 1;
    }
    return static_cast<size_t>(found - node_.operands.begin());
  }

  // An output may take the bytes of an operand that is read at the same place only.
  void choose_reused() {
    std::vector<bool> free(node_.operands.size(), true);
    for (const ElementPass::Input& input : pass_.inputs)
      if (!input.load.is_dense() || input.load.offset() != 0) free[input.operand] = false;
    for (size_t i = 0; i < node_.operands.size(); ++i)
      if (graph_.values[node_.operands[i]].shape->element_count() != space_) free[i] = false;
    for (const int64_t out : pass_.widths) {
      int64_t chosen = -1;
      for (size_t i = 0; i < node_.operands.size() && chosen < 0; ++i)
        if (free[i] && width(node_.operands[i]) == out) chosen = static_cast<int64_t>(i);
      if (chosen >= 0) free[static_cast<size_t>(chosen)] = false;
      pass_.reused.push_back(chosen);
    }
  }

  struct Load {
    ValueId base;
    StridedView view;
    Value value;
  };
  const ComputationGraph& graph_;
  const ValueViews& views_;
  Module& module_;
  const OpTable& table_;
  int64_t space_ = 0;
  ElementProgramBuilder builder_;
  std::unordered_map<ValueId, Value> values_;
  std::vector<Load> loads_;
  ElementPass pass_;
  GraphNode node_;
};

// A view that is needed in memory, copied straight from the base.
GraphNode copied_view(const GraphNode& node, const Seen& seen, ShapeRef shape) {
  GraphNode copy = node;
  if (seen.base == node.operands[0]) return copy;
  copy.operands = {seen.base};
  if (!seen.view) {
    copy.evaluation = [](Invocation& call) { call.set_result(call.take(0)); };
    return copy;
  }
  const int64_t width = byte_width(shape->element_type);
  const StridedView& view = *seen.view;
  copy.reused.clear();
  copy.evaluation = [strided = StridedCopy(view.dimensions, view.strides, dense_strides(view.dimensions), width),
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
      : graph_(graph), views_(views), groups_(groups), module_(module), table_(table), separate_(separate),
        done_(graph.nodes.size(), false) {}

  /// The nodes in their new order; `origins`: the first of the old nodes that each stands for.
  std::vector<GraphNode> make(std::vector<NodeIndex>& origins) {
    find_outputs();
    for (NodeIndex n = 0; n < graph_.nodes.size(); ++n) {
      if (groups_.roles[n] == NodeRole::kElementwise) {
        const auto& group = groups_.groups[groups_.group_of[n]];
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
        const bool inside = from != kNoNode && groups_.roles[n] == NodeRole::kElementwise &&
                            groups_.roles[from] == NodeRole::kElementwise &&
                            groups_.group_of[n] == groups_.group_of[from];
        if (!inside) leaves_[value] = true;
      });
  }

  template <class F>
  void for_each_input(NodeIndex n, F&& f) const {
    const GraphNode& node = graph_.nodes[n];
    switch (groups_.roles[n]) {
      case NodeRole::kUnneeded: return;
      case NodeRole::kView: return f(views_[node.results[0]].base);
      case NodeRole::kFixed:
        for (const ValueId operand : node.operands) f(operand);
        return;
      case NodeRole::kElementwise:
        for (const ValueId operand : node.operands) f(separate_[n] ? operand : views_.load(operand).base);
    }
  }

  // `n` and before it what it waits for. A group is named by its first node.
  void emit(NodeIndex n) {
    if (groups_.roles[n] == NodeRole::kElementwise) n = groups_.groups[groups_.group_of[n]][0];
    if (done_[n]) return;
    done_[n] = true;
    const auto emit_inputs = [&](NodeIndex of) {
      for_each_input(of, [&](ValueId value) {
        if (groups_.producers[value] != kNoNode) emit(groups_.producers[value]);
      });
    };
    const GraphNode& node = graph_.nodes[n];
    if (groups_.roles[n] == NodeRole::kElementwise) {
      const auto& group = groups_.groups[groups_.group_of[n]];
      for (const NodeIndex member : group) emit_inputs(member);
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
    const auto& group = groups_.groups[groups_.group_of[n]];
    if (group.size() > 1) return false;
    const auto& operands = graph_.nodes[n].operands;
    return separate_[n] || std::all_of(operands.begin(), operands.end(),
                                       [&](ValueId operand) { return views_.load(operand).base == operand; });
  }

  GraphNode joined(const std::vector<NodeIndex>& group) const {
    std::vector<ValueId> outputs;
    for (const NodeIndex member : group) {
      const ValueId value = graph_.nodes[member].results[0];
      if (leaves_[value]) outputs.push_back(value);
    }
    return PassMaker(graph_, views_, module_, table_).make(group, outputs);
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

void make_clusters(ComputationGraph& graph, Module& module, const OpTable& table) {
  const int64_t most = Lifetimes(graph, graph.nodes).peak().bytes;
  const ValueViews views(graph, module, table);
  std::vector<bool> separate(graph.nodes.size(), false);
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const Groups groups = find_groups(graph, views, module, table, separate);
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
      if (groups.roles[origins[n]] != NodeRole::kElementwise) continue;
      const bool waits = n == peak.node || std::any_of(nodes[n].operands.begin(), nodes[n].operands.end(),
                                                       [&](ValueId v) { return lifetimes.spans(v, peak.node); });
      if (!waits) continue;
      for (const NodeIndex member : groups.groups[groups.group_of[origins[n]]]) {
        found = found || !separate[member];
        separate[member] = true;
      }
    }
    if (!found) return;
  }
}

}  // namespace hlosim
