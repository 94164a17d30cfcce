#include "lower/fusions/fusion_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "lower/fusions/fusion_graph.h"
#include "lower/fusions/fusion_stores.h"
#include "lower/working_set.h"

namespace hlosim {
namespace {

class Planner {
 public:
  Planner(Module& module, const OpTable& table, const DeviceConfig& device, ComputationId id)
      : table_(table), device_(device), graph_(module, table, device, id) {}

  FusionPlan plan(const Room& vmem) {
    choose_stored(graph_, device_, vmem);
    group_.assign(static_cast<size_t>(graph_.count()), -1);
    for (int32_t i = 0; i < graph_.count(); ++i)
      if (graph_[i].stored) group_[at(i)] = i;
    join_reductions();
    join_parts_of_lanes();
    join_epilogues();
    take_apart_what_does_not_fit();
    FusionPlan plan;
    if (emit(plan)) return plan;
    for (int32_t i = 0; i < graph_.count(); ++i)  // joined in a circle: every value alone
      if (graph_[i].stored) group_[at(i)] = i;
    take_apart_what_does_not_fit();
    plan.groups.clear();
    HLOSIM_CHECK(emit(plan));
    return plan;
  }

 private:
  using Joined = std::unordered_map<int32_t, Places>;
  using Members = Places;  // what one fusion computes, in order
  static size_t at(int32_t place) { return static_cast<size_t>(place); }

  int32_t input_of(int32_t reduction) const { return graph_[reduction].operands[0]; }

  /// The reduction whose result, or what is made of it, is stored at `i`; -1: none.
  int32_t reduction_at(int32_t i) const {
    const int32_t hero = graph_[i].owner >= 0 ? graph_[i].owner : i;
    return graph_[hero].role == FusionRole::kReduce ? hero : -1;
  }

  /// Nothing in the group of `leader` depends on `i` or the other way round. `joined`: who went into a group
  /// of another.
  bool independent(int32_t i, int32_t leader, const Joined& joined) const {
    const auto apart = [&](int32_t k) {
      return k == i || group_[at(k)] != leader || !(graph_.depends(i, k) || graph_.depends(k, i));
    };
    const auto others = joined.find(leader);
    return apart(leader) && (others == joined.end() || std::ranges::all_of(others->second, apart));
  }

  /// All sources of `i` but `from` are there before `from` is computed.
  bool only_waits_for(int32_t i, int32_t from) const {
    for (const int32_t source : graph_.sources(i))
      if (source != from && graph_.depends(source, from)) return false;
    return true;
  }

  void join_reductions() {
    Joined readers;  // reductions so far, by the stored values that they are computed from
    Joined joined;
    for (int32_t i = 0; i < graph_.count(); ++i) {
      if (!graph_[i].stored) continue;
      const int32_t reduction = reduction_at(i);
      if (reduction < 0) continue;
      const int64_t input = graph_.elements(input_of(reduction));
      const std::set<int32_t> from = graph_.sources(i);
      for (const int32_t source : from) {
        if (graph_.elements(source) != input) continue;
        if (join_producer(i, source, reduction) || join_sibling(i, readers[source], input, joined)) break;
      }
      if (group_[at(i)] != i) joined[group_[at(i)]].push_back(i);
      for (const int32_t source : from) readers[source].push_back(i);
    }
  }

  /// With the fusion that makes what is reduced.
  bool join_producer(int32_t i, int32_t source, int32_t reduction) {
    const FusionRole role = graph_[source].role;
    const bool made_by_fusion =
        graph_[source].owner >= 0 || role == FusionRole::kProduct || role == FusionRole::kElement;
    if (!made_by_fusion || group_[at(source)] != source || !only_waits_for(i, source)) return false;
    if (!graph_.only_elementwise_from(reduction, source)) return false;
    group_[at(i)] = source;
    return true;
  }

  /// With another reduction that reads the same array.
  bool join_sibling(int32_t i, const Places& readers, int64_t input, const Joined& joined) {
    for (const int32_t k : readers) {
      if (group_[at(k)] != k || graph_.elements(input_of(reduction_at(k))) != input) continue;
      if (!independent(i, k, joined)) continue;
      group_[at(i)] = k;
      return true;
    }
    return false;
  }

  /// Those of the same values are one kernel.
  void join_parts_of_lanes() {
    std::map<std::pair<std::set<int32_t>, int64_t>, int32_t> first;
    for (int32_t part = 0; part < graph_.count(); ++part) {
      if (!graph_[part].is_lane_part || group_[at(part)] != part) continue;
      const auto [known, is_new] = first.try_emplace({graph_.sources(part), graph_.elements(part)}, part);
      if (!is_new && !graph_.depends(part, known->second)) group_[at(part)] = known->second;
    }
  }

  /// Elementwise work that is stored beside a product's result joins the product (seen in train steps of
  /// v6e).
  void join_epilogues() {
    for (int32_t i = 0; i < graph_.count(); ++i) {
      const FusionNode& node = graph_[i];
      if (!node.stored || node.role != FusionRole::kElement || node.owner >= 0 || group_[at(i)] != i)
        continue;
      const std::set<int32_t> from = graph_.sources(i);
      for (auto source = from.rbegin(); source != from.rend(); ++source) {
        const int32_t owner = graph_[*source].owner >= 0 ? graph_[*source].owner : *source;
        if (graph_.instruction(owner).opcode != Opcode::kDot ||
            graph_.elements(*source) != graph_.elements(i))
          continue;
        if (group_[at(*source)] != *source || !only_waits_for(i, *source)) continue;
        if (!graph_.only_elementwise_from(i, *source)) continue;
        group_[at(i)] = *source;
        break;
      }
    }
  }

  /// Adds what is computed in the fusion that stores `i` and has no mark yet.
  void collect(int32_t i, Members& members) const {
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      if (!mark(next)) continue;
      members.push_back(next);
      for (const int32_t operand : graph_[next].operands)
        if (!graph_[operand].stored) open.push_back(operand);
    }
  }

  /// Takes all marks away.
  void unmark() const { ++round_, marks_.resize(static_cast<size_t>(graph_.count()), 0); }

  bool is_marked(int32_t i) const { return marks_[at(i)] == round_; }

  /// False: it had one.
  bool mark(int32_t i) const { return std::exchange(marks_[at(i)], round_) != round_; }

  /// The stored values of each fusion, by the one that stands for it.
  std::map<int32_t, Places> outputs_of_groups() const {
    std::map<int32_t, Places> stored_by;
    for (int32_t i = 0; i < graph_.count(); ++i)
      if (graph_[i].stored) stored_by[group_[at(i)]].push_back(i);
    return stored_by;
  }

  /// Requires: they alone have marks. Where they stand close together these say their order.
  void put_in_order(Members& members) const {
    const auto [first, last] = std::ranges::minmax(members);
    const auto range = static_cast<size_t>(last - first) + 1;
    if (range > 8 * members.size()) {
      std::ranges::sort(members);
      return;
    }
    members.clear();
    for (int32_t i = first; i <= last; ++i)
      if (is_marked(i)) members.push_back(i);
  }

  Members members_of(const Places& outputs) const {
    Members members;
    unmark();
    for (const int32_t i : outputs)
      if (graph_[i].role != FusionRole::kNone || graph_[i].end) collect(i, members);
    // Within one fusion a stored value is at hand.
    for (const int32_t i : outputs)
      if (mark(i)) members.push_back(i);
    put_in_order(members);
    // Numbers alone are nothing to fuse.
    const bool computes = !graph_[outputs[0]].end || std::ranges::any_of(members, [&](int32_t i) {
      return i != outputs[0] && !graph_.is_constant(i);
    });
    if (!computes) members = {outputs[0]};
    return members;
  }

  /// By another fusion than the one that stores it, or at the end.
  bool is_wanted(int32_t i) const {
    if (i == graph_.root()) return true;
    unmark();
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      for (const int32_t user : graph_[next].users) {
        if (graph_[user].stored && group_[at(user)] != group_[at(i)]) return true;
        if (!graph_[user].stored && mark(user)) open.push_back(user);
      }
    }
    return false;
  }

  /// A value that all its users joined stays in the kernel; all, where nobody wants any.
  Places wanted_of(const Places& outputs) const {
    if (outputs.size() == 1) return outputs;
    Places kept;
    std::ranges::copy_if(outputs, std::back_inserter(kept), [&](int32_t i) { return is_wanted(i); });
    return kept.empty() ? outputs : kept;
  }

  // ── what fits into VMEM ──

  int64_t working_set(const Members& members, const Places& outputs) const {
    const auto ids = [&](const auto& places) {
      std::vector<InstructionId> found;
      for (const int32_t i : places) found.push_back(graph_.id(i));
      return found;
    };
    return least_working_set(graph_.module(), table_, device_, ids(members), ids(outputs));
  }

  /// Fusions that need more VMEM at once than there is: their outputs go apart, then the largest part of one
  /// that fits is stored.
  void take_apart_what_does_not_fit() {
    const int64_t limit = working_set_limit(device_);
    std::map<int32_t, Places> open = outputs_of_groups();
    while (!open.empty()) {
      std::map<int32_t, Places> again;
      for (const auto& [leader, outputs] : open) {
        const Members members = members_of(outputs);
        if (members.size() == 1 || working_set(members, wanted_of(outputs)) <= limit) continue;
        if (outputs.size() > 1) {
          for (const int32_t i : outputs) group_[at(i)] = i, again[i] = {i};
        } else if (const int32_t part = largest_fitting_part(members, leader, limit); part >= 0) {
          graph_[part].stored = true;
          group_[at(part)] = part;
          again[leader] = outputs;
        }
      }
      open = std::move(again);
    }
  }

  /// Of what fits in a fusion that doesn't: the value whose computation needs most, of these the smallest.
  /// -1: none that would help.
  int32_t largest_fitting_part(const Members& members, int32_t output, int64_t limit) const {
    int32_t best = -1;
    int64_t most = 0;
    for (const int32_t i : members) {
      const FusionNode& node = graph_[i];
      if (i == output || node.stored || node.role == FusionRole::kFill) continue;
      Members part;
      unmark();
      collect(i, part);
      std::sort(part.begin(), part.end());
      const int64_t need = working_set(part, {i});
      if (need > limit || need < most || (need == most && best >= 0 && node.bytes >= graph_[best].bytes))
        continue;
      most = need, best = i;
    }
    return best;
  }

  /// False where groups wait for each other in a circle.
  bool emit(FusionPlan& plan) const {
    const std::map<int32_t, Places> stored_by = outputs_of_groups();
    struct Group {
      Members members;
      Places outputs, followers;
      size_t waits_for = 0;
      int32_t first = 0;
    };
    std::map<int32_t, Group> groups;
    for (const auto& [leader, outputs] : stored_by) {
      Group& group = groups[leader];
      group.outputs = outputs;
      group.first = outputs.back();
      group.members = members_of(outputs);
    }
    for (auto& [leader, group] : groups) {
      std::set<int32_t> before;
      unmark();
      for (const int32_t member : group.members) mark(member);
      const auto wait = [&](int32_t operand) {
        if (!is_marked(operand) && graph_[operand].stored) before.insert(group_[at(operand)]);
      };
      for (const int32_t member : group.members) {
        for (const int32_t operand : graph_[member].operands) wait(operand);
        if (const Attr* control = graph_.instruction(member).find(AttrKey::kControlPredecessors))
          for (const InstructionId predecessor : control->instructions()) wait(graph_.place(predecessor));
      }
      before.erase(leader);
      group.waits_for = before.size();
      for (const int32_t other : before) groups[other].followers.push_back(leader);
    }
    using Entry = std::pair<int32_t, int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (const auto& [leader, group] : groups)
      if (group.waits_for == 0) ready.push({group.first, leader});
    while (!ready.empty()) {
      const Group& group = groups[ready.top().second];
      ready.pop();
      plan.groups.push_back(make_group(group.members, wanted_of(group.outputs)));
      for (const int32_t follower : group.followers)
        if (--groups[follower].waits_for == 0) ready.push({groups[follower].first, follower});
    }
    return plan.groups.size() == groups.size();
  }

  FusionGroup make_group(const Members& members, const Places& outputs) const {
    FusionGroup group;
    bool product = false, reduction = false;  // or another end that is more than a loop over its result
    for (const int32_t i : members) {
      group.members.push_back(graph_.id(i));
      const std::optional<FusionEnd>& end = graph_[i].end;
      product |= graph_[i].role == FusionRole::kProduct || (end && end->slices_only);
      reduction |= graph_[i].role == FusionRole::kReduce ||
                   (end && graph_.instruction(i).opcode != Opcode::kDynamicUpdateSlice);
    }
    for (const int32_t i : outputs) group.outputs.push_back(graph_.id(i));
    group.kind = product ? "kOutput" : reduction ? "kInput" : "kLoop";
    return group;
  }

  const OpTable& table_;
  const DeviceConfig& device_;
  FusionGraph graph_;
  std::vector<int32_t> group_;           // of a stored value: the one that stands for its fusion
  mutable std::vector<uint32_t> marks_;  // by place: the round in which it got one
  mutable uint32_t round_ = 0;
};

}  // namespace

FusionPlan plan_fusions(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem,
                        ComputationId id) {
  return Planner(module, table, device, id).plan(vmem);
}

}  // namespace hlosim
