#include "exec/cluster_groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "cpu_kernels/element.h"
#include "elementwise/element_kernels.h"
#include "hlo/op_def.h"

namespace hlosim {
namespace {

constexpr size_t kMostNodes = 128;            // of a group
constexpr size_t kMostScalars = 1024;         // of a group of scalars
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

// Elements of the nodes of a set: all `elements`, or rows · row and rows.
struct Space {
  int64_t elements = 0, rows = 0, row = 0;

  bool holds(int64_t count) const {
    return rows == 0 ? count == elements : count == rows * row || count == rows;
  }
  bool operator==(const Space&) const = default;
};

std::optional<Space> together(const Space& a, const Space& b) {
  if (a == b) return a;
  if (a.rows == 0 && b.rows > 0 && b.holds(a.elements)) return b;
  if (b.rows == 0 && a.rows > 0 && a.holds(b.elements)) return a;
  return std::nullopt;
}

class Grouping {
 public:
  Grouping(const ComputationGraph& graph, const ValueViews& views, Module& module, const OpTable& table,
           ProgramServices& services, const std::vector<bool>& separate)
      : graph_(graph),
        views_(views),
        module_(module),
        table_(table),
        services_(services),
        separate_(separate),
        classes_(graph.nodes.size()),
        spaces_(graph.nodes.size()),
        levels_(graph.nodes.size(), 0) {}

  Groups make() {
    find_producers();
    find_roles();
    find_spaces();
    find_levels();
    raise_levels();
    join();
    return std::move(groups_);
  }

 private:
  size_t count() const { return graph_.nodes.size(); }
  const GraphNode& node(size_t n) const { return graph_.nodes[n]; }
  bool is_member(NodeIndex n) const { return n != kNoNode && may_join(groups_.roles[n]); }
  Seen seen(size_t n, size_t operand) const {
    return separate_[n] ? Seen{node(n).operands[operand], std::nullopt}
                        : read_by(node(n), groups_.roles[n], operand, views_);
  }

  void find_producers() {
    groups_.producers.assign(graph_.values.size(), kNoNode);
    for (size_t n = 0; n < count(); ++n)
      for (const ValueId value : node(n).results) groups_.producers[value] = static_cast<NodeIndex>(n);
  }

  bool is_elementwise(const GraphNode& candidate) const {
    const OpDef& def = table_[candidate.instruction->opcode];
    if (candidate.evaluation || !def.element || candidate.results.size() != 1) return false;
    const ShapeRef shape = graph_.values[candidate.results[0]].shape;
    if (!is_plain_array(shape)) return false;
    for (const ValueId operand : candidate.operands) {
      const ShapeRef one = graph_.values[operand].shape;
      if (!is_plain_array(one) || (one->element_count() != shape->element_count() && !one->is_scalar()))
        return false;
    }
    return static_cast<bool>(elementwise_kernel(OpContext(module_, *candidate.instruction, table_, nullptr)));
  }

  std::optional<RowFold> fold(const GraphNode& candidate) const {
    if (candidate.evaluation || candidate.operands.size() != 2 || candidate.results.size() != 1)
      return std::nullopt;
    for (const ValueId value : {candidate.operands[0], candidate.operands[1], candidate.results[0]})
      if (!is_plain_array(graph_.values[value].shape)) return std::nullopt;
    EvaluateContext op(module_, *candidate.instruction, table_, nullptr, services_);
    std::optional<RowFold> found = row_fold(op);
    // A single row is no reason to keep it in the cache.
    if (found && (found->rows < 2 || found->row < 2)) return std::nullopt;
    return found;
  }

  // Values that have to be in memory for `n`.
  template <class F>
  void for_each_needed(size_t n, F&& f) const {
    switch (groups_.roles[n]) {
      case NodeRole::kFixed:
        for (const ValueId operand : node(n).operands) f(operand);
        break;
      case NodeRole::kElementwise:
      case NodeRole::kFold:
        for (size_t i = 0; i < node(n).operands.size(); ++i) f(seen(n, i).base);
        break;
      case NodeRole::kView:
        f(views_[node(n).results[0]].base);
        break;
      case NodeRole::kUnneeded:
        break;
    }
  }

  void find_roles() {
    groups_.roles.assign(count(), NodeRole::kFixed);
    groups_.folds.resize(count());
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId value : graph_.results) needed[value] = true;
    for (size_t n = count(); n-- > 0;) {
      const GraphNode& one = node(n);
      if (one.results.size() == 1 && views_.is_view(one.results[0]))
        groups_.roles[n] = needed[one.results[0]] ? NodeRole::kView : NodeRole::kUnneeded;
      else if (is_elementwise(one))
        groups_.roles[n] = NodeRole::kElementwise;
      else if (!separate_[n] && (groups_.folds[n] = fold(one)))
        groups_.roles[n] = NodeRole::kFold;
      for_each_needed(n, [&](ValueId value) { needed[value] = true; });
    }
  }

  // ── what fits together ────────────────────────────────────────

  // Calls f(operand, producer) for the operands of `n` that could come from within the same pass: with as
  // many elements, reduced to rows, or one for each row.
  template <class F>
  void for_each_candidate(size_t n, F&& f) const {
    if (separate_[n]) return;
    const bool folds = groups_.roles[n] == NodeRole::kFold;
    for (size_t i = 0; i < (folds ? 1 : node(n).operands.size()); ++i)
      if (const NodeIndex from = candidate(n, i); from != kNoNode) f(i, from);
  }

  NodeIndex candidate(size_t n, size_t operand) const {
    const bool folds = groups_.roles[n] == NodeRole::kFold;
    if (separate_[n] || (folds && operand > 0)) return kNoNode;
    const Seen read = seen(n, operand);
    const NodeIndex from = groups_.producers[read.base];
    if (!is_member(from) || separate_[from]) return kNoNode;
    const int64_t here = folds ? groups_.folds[n]->rows * groups_.folds[n]->row : space(graph_, node(n));
    const int64_t there = space(graph_, node(from));
    if (!read.view) return here == there ? from : kNoNode;
    return is_spread(*read.view, there, here) ? from : kNoNode;
  }

  // Each of `rows` elements fills a row.
  static bool is_spread(const StridedView& view, int64_t rows, int64_t elements) {
    const StridedView simple = collapsed(view);
    return simple.offset == 0 && simple.dimensions.size() == 2 && simple.dimensions[0] == rows &&
           simple.dimensions[0] * simple.dimensions[1] == elements && simple.strides[0] == 1 &&
           simple.strides[1] == 0;
  }

  void find_spaces() {
    for (NodeIndex n = 0; n < count(); ++n) {
      if (!is_member(n)) continue;
      spaces_[n].elements = space(graph_, node(n));
      if (groups_.folds[n]) spaces_[n] = {0, groups_.folds[n]->rows, groups_.folds[n]->row};
    }
    // What spreads over rows comes last: only folds say what rows there are.
    for (const bool spread : {false, true})
      for (NodeIndex n = 0; n < count(); ++n) {
        if (!is_member(n)) continue;
        for_each_candidate(n, [&](size_t i, NodeIndex from) {
          if (seen(n, i).view.has_value() == spread) unite(n, from);
        });
      }
  }

  void unite(NodeIndex n, NodeIndex from) {
    const uint32_t a = classes_.find(n), b = classes_.find(from);
    if (a == b) return;
    const std::optional<Space> both = together(spaces_[a], spaces_[b]);
    if (!both) return;
    classes_.join(a, b);
    spaces_[classes_.find(a)] = *both;
  }

  const Space& space_of(size_t n) { return spaces_[classes_.find(static_cast<uint32_t>(n))]; }

  // The node that makes operand `i` of `n` when both may be in one pass.
  NodeIndex joined(size_t n, size_t i) {
    const NodeIndex from = candidate(n, i);
    if (from == kNoNode || classes_.find(static_cast<uint32_t>(n)) != classes_.find(from)) return kNoNode;
    return from;
  }

  // ── levels ────────────────────────────────────────────────────

  // Calls f(producer, steps up) for what `n` waits for.
  template <class F>
  void for_each_edge(size_t n, F&& f) {
    if (may_join(groups_.roles[n])) {
      for (size_t i = 0; i < node(n).operands.size(); ++i) {
        const NodeIndex from = groups_.producers[seen(n, i).base];
        if (from != kNoNode) f(from, is_member(from) && joined(n, i) == kNoNode ? 1 : 0);
      }
      return;
    }
    for_each_needed(n, [&](ValueId value) {
      const NodeIndex from = groups_.producers[value];
      if (from != kNoNode) f(from, is_member(from) ? 1 : 0);
    });
  }

  void find_levels() {
    int64_t fixed = 0;  // of the last node that stays in its order
    for (NodeIndex n = 0; n < count(); ++n) {
      int64_t level = is_member(n) ? 0 : fixed;
      for_each_edge(n, [&](NodeIndex from, int64_t up) { level = std::max(level, levels_[from] + up); });
      levels_[n] = level;
      if (!is_member(n) && groups_.roles[n] != NodeRole::kUnneeded) fixed = level;
    }
  }

  void raise_levels() {
    constexpr int64_t kFree = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> allowed(count(), kFree), joinable(count(), kFree);  // levels that consumers leave
    for (NodeIndex n = static_cast<NodeIndex>(count()); n-- > 0;) {
      if (groups_.roles[n] == NodeRole::kUnneeded) continue;
      if (is_member(n) && allowed[n] != kFree && joinable[n] == allowed[n]) levels_[n] = allowed[n];
      for_each_edge(n, [&](NodeIndex from, int64_t up) {
        allowed[from] = std::min(allowed[from], levels_[n] - up);
        if (up == 0 && is_member(n)) joinable[from] = std::min(joinable[from], levels_[n]);
      });
    }
  }

  // ── groups ────────────────────────────────────────────────────

  void join() {
    Sets sets(count());
    std::map<std::pair<int64_t, ValueId>, NodeIndex> readers;  // by level and what they read
    std::unordered_map<int64_t, NodeIndex> scalars;            // by level
    for (NodeIndex n = 0; n < count(); ++n) {
      if (!is_member(n) || separate_[n]) continue;
      if (spaces_[n].elements == 1) sets.join(n, scalars.emplace(levels_[n], n).first->second);
      for (size_t i = 0; i < node(n).operands.size(); ++i) {
        const NodeIndex from = joined(n, i);
        if (from != kNoNode && levels_[from] == levels_[n]) sets.join(n, from);
        const Seen read = seen(n, i);
        if (read.view || data_bytes(graph_.values[read.base].shape) < kWorthSharing) continue;
        const auto [reader, first] = readers.emplace(std::pair(levels_[n], read.base), n);
        if (!first && space_of(reader->second) == space_of(n)) sets.join(n, reader->second);
      }
    }
    groups_.group_of.assign(count(), 0);
    std::vector<uint32_t> open(count(), kNoNode);  // the group that a set fills at the time
    for (NodeIndex n = 0; n < count(); ++n) {
      if (!is_member(n)) continue;
      uint32_t& group = open[sets.find(n)];
      const size_t most = spaces_[n].elements == 1 ? kMostScalars : kMostNodes;
      if (group == kNoNode || groups_.groups[group].nodes.size() == most) {
        group = static_cast<uint32_t>(groups_.groups.size());
        groups_.groups.emplace_back();
      }
      groups_.groups[group].nodes.push_back(n);
      groups_.group_of[n] = group;
    }
    for (Group& group : groups_.groups) {
      const NodeIndex first = group.nodes[0];
      const bool even = std::all_of(group.nodes.begin(), group.nodes.end(), [&](NodeIndex n) {
        return groups_.roles[n] == NodeRole::kElementwise &&
               space(graph_, node(n)) == space(graph_, node(first));
      });
      if (even) continue;
      group.rows = space_of(first).rows;
      group.row = space_of(first).row;
    }
  }

  const ComputationGraph& graph_;
  const ValueViews& views_;
  Module& module_;
  const OpTable& table_;
  ProgramServices& services_;
  const std::vector<bool>& separate_;
  Groups groups_;
  Sets classes_;               // nodes that one space could hold
  std::vector<Space> spaces_;  // of each class, at its first node
  std::vector<int64_t> levels_;
};

}  // namespace

Seen read_by(const GraphNode& node, NodeRole role, size_t operand, const ValueViews& views) {
  const ValueId value = node.operands[operand];
  if (role == NodeRole::kElementwise) return views.load(value);
  const Seen& seen = views[value];
  return seen.view ? Seen{value, std::nullopt} : seen;
}

Groups find_groups(const ComputationGraph& graph, const ValueViews& views, Module& module,
                   const OpTable& table, ProgramServices& services, const std::vector<bool>& separate) {
  return Grouping(graph, views, module, table, services, separate).make();
}

}  // namespace hlosim
