#include "exec/cluster_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "hlo/op_def.h"
#include "kernels/element.h"

namespace hlosim {
namespace {

constexpr size_t kMostNodes = 128;           // of a group
constexpr size_t kMostScalars = 1024;        // of a group of scalars
constexpr int64_t kWorthSharing = 256 << 10;  // bytes of an operand that two passes should not read twice

class Sets {
 public:
  explicit Sets(size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0u); }
  uint32_t find(uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parents_;
};

class Grouping {
 public:
  Grouping(const ComputationGraph& graph, const ValueViews& views, Module& module, const OpTable& table,
           const std::vector<bool>& separate)
      : graph_(graph), views_(views), module_(module), table_(table), separate_(separate),
        levels_(graph.nodes.size(), 0) {}

  Groups make() {
    find_producers();
    find_roles();
    find_levels();
    raise_levels();
    join();
    return std::move(groups_);
  }

 private:
  size_t count() const { return graph_.nodes.size(); }
  const GraphNode& node(size_t n) const { return graph_.nodes[n]; }
  Seen seen(size_t n, ValueId operand) const {
    return separate_[n] ? Seen{operand, std::nullopt} : views_.load(operand);
  }
  bool is_elementwise(NodeIndex n) const { return n != kNoNode && groups_.roles[n] == NodeRole::kElementwise; }

  void find_producers() {
    groups_.producers.assign(graph_.values.size(), kNoNode);
    for (size_t n = 0; n < count(); ++n)
      for (const ValueId value : node(n).results) groups_.producers[value] = static_cast<NodeIndex>(n);
  }

  bool can_join(const GraphNode& candidate) const {
    const OpDef& def = table_[candidate.instruction->opcode];
    if (candidate.evaluation || !def.element || candidate.results.size() != 1) return false;
    const ShapeRef shape = graph_.values[candidate.results[0]].shape;
    if (!is_plain_array(shape)) return false;
    for (const ValueId operand : candidate.operands) {
      const ShapeRef one = graph_.values[operand].shape;
      if (!is_plain_array(one) || (one->element_count() != shape->element_count() && !one->is_scalar())) return false;
    }
    return static_cast<bool>(def.element(OpContext(module_, *candidate.instruction, table_, nullptr)));
  }

  // Values that have to be in memory for `n`.
  template <class F>
  void for_each_needed(size_t n, F&& f) const {
    switch (groups_.roles[n]) {
      case NodeRole::kFixed:
        for (const ValueId operand : node(n).operands) f(operand);
        break;
      case NodeRole::kElementwise:
        for (const ValueId operand : node(n).operands) f(seen(n, operand).base);
        break;
      case NodeRole::kView: f(views_[node(n).results[0]].base); break;
      case NodeRole::kUnneeded: break;
    }
  }

  void find_roles() {
    groups_.roles.assign(count(), NodeRole::kFixed);
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId value : graph_.results) needed[value] = true;
    for (size_t n = count(); n-- > 0;) {
      const GraphNode& one = node(n);
      if (one.results.size() == 1 && views_.is_view(one.results[0]))
        groups_.roles[n] = needed[one.results[0]] ? NodeRole::kView : NodeRole::kUnneeded;
      else if (can_join(one))
        groups_.roles[n] = NodeRole::kElementwise;
      for_each_needed(n, [&](ValueId value) { needed[value] = true; });
    }
  }

  // The node that makes operand `i` of the elementwise node `n` when both may be in one pass.
  NodeIndex joined(size_t n, size_t i) const {
    const Seen read = seen(n, node(n).operands[i]);
    const NodeIndex from = groups_.producers[read.base];
    if (read.view || !is_elementwise(from) || separate_[n] || separate_[from] ||
        space(graph_, node(from)) != space(graph_, node(n)))
      return kNoNode;
    for (const ValueId operand : node(n).operands) {
      const Seen other = seen(n, operand);
      if (other.base == read.base && other.view) return kNoNode;
    }
    return from;
  }

  // Calls f(producer, steps up) for what `n` waits for.
  template <class F>
  void for_each_edge(size_t n, F&& f) const {
    if (groups_.roles[n] == NodeRole::kElementwise) {
      for (size_t i = 0; i < node(n).operands.size(); ++i) {
        const NodeIndex from = groups_.producers[seen(n, node(n).operands[i]).base];
        if (from != kNoNode) f(from, is_elementwise(from) && joined(n, i) == kNoNode ? 1 : 0);
      }
      return;
    }
    for_each_needed(n, [&](ValueId value) {
      const NodeIndex from = groups_.producers[value];
      if (from != kNoNode) f(from, is_elementwise(from) ? 1 : 0);
    });
  }

  void find_levels() {
    int64_t fixed = 0;  // of the last node that stays in its order
    for (size_t n = 0; n < count(); ++n) {
      int64_t level = is_elementwise(static_cast<NodeIndex>(n)) ? 0 : fixed;
      for_each_edge(n, [&](NodeIndex from, int64_t up) { level = std::max(level, levels_[from] + up); });
      levels_[n] = level;
      if (!is_elementwise(static_cast<NodeIndex>(n)) && groups_.roles[n] != NodeRole::kUnneeded) fixed = level;
    }
  }

  void raise_levels() {
    constexpr int64_t kFree = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> allowed(count(), kFree), joinable(count(), kFree);  // levels that consumers leave
    for (size_t n = count(); n-- > 0;) {
      if (groups_.roles[n] == NodeRole::kUnneeded) continue;
      if (is_elementwise(static_cast<NodeIndex>(n)) && allowed[n] != kFree && joinable[n] == allowed[n])
        levels_[n] = allowed[n];
      for_each_edge(n, [&](NodeIndex from, int64_t up) {
        allowed[from] = std::min(allowed[from], levels_[n] - up);
        if (up == 0) joinable[from] = std::min(joinable[from], levels_[n]);
      });
    }
  }

  void join() {
    Sets sets(count());
    std::map<std::pair<int64_t, ValueId>, NodeIndex> readers;  // by level and what they read
    std::unordered_map<int64_t, NodeIndex> scalars;            // by level
    for (NodeIndex n = 0; n < count(); ++n) {
      if (!is_elementwise(n) || separate_[n]) continue;
      const int64_t elements = space(graph_, node(n));
      if (elements == 1) sets.join(n, scalars.emplace(levels_[n], n).first->second);
      for (size_t i = 0; i < node(n).operands.size(); ++i) {
        const NodeIndex from = joined(n, i);
        if (from != kNoNode && levels_[from] == levels_[n]) sets.join(n, from);
        const Seen read = seen(n, node(n).operands[i]);
        if (read.view || data_bytes(graph_.values[read.base].shape) < kWorthSharing) continue;
        const auto [reader, first] = readers.emplace(std::pair(levels_[n], read.base), n);
        if (!first && space(graph_, node(reader->second)) == elements) sets.join(n, reader->second);
      }
    }
    groups_.group_of.assign(count(), 0);
    std::vector<uint32_t> open(count(), kNoNode);  // the group that a set fills at the time
    for (NodeIndex n = 0; n < count(); ++n) {
      if (!is_elementwise(n)) continue;
      uint32_t& group = open[sets.find(n)];
      const size_t most = space(graph_, node(n)) == 1 ? kMostScalars : kMostNodes;
      if (group == kNoNode || groups_.groups[group].size() == most) {
        group = static_cast<uint32_t>(groups_.groups.size());
        groups_.groups.emplace_back();
      }
      groups_.groups[group].push_back(n);
      groups_.group_of[n] = group;
    }
  }

  const ComputationGraph& graph_;
  const ValueViews& views_;
  Module& module_;
  const OpTable& table_;
  const std::vector<bool>& separate_;
  Groups groups_;
  std::vector<int64_t> levels_;
};

}  // namespace

Groups find_groups(const ComputationGraph& graph, const ValueViews& views, Module& module, const OpTable& table,
                   const std::vector<bool>& separate) {
  return Grouping(graph, views, module, table, separate).make();
}

}  // namespace hlosim
