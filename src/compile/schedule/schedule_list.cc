#include "schedule/schedule_list.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/check.h"

namespace hlosim {
namespace {

constexpr size_t index_of(AsyncKind kind) { return static_cast<size_t>(kind); }

class ListMaker {
 public:
  ListMaker(const ScheduleGraph& graph, std::unique_ptr<OrderPressure> pressure, const SpaceBytes& limits,
            const LatencyScheduleOptions& options)
      : graph_(graph),
        limits_(limits),
        options_(options),
        states_(graph.nodes.size()),
        pressure_(std::move(pressure)) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      states_[i].waits_for = static_cast<int32_t>(graph.nodes[i].after.size());
      if (states_[i].waits_for == 0) ready_.push_back(static_cast<int32_t>(i));
    }
  }

  /// In the order in which they were placed.
  ListSchedule make() {
    while (!ready_.empty()) place(choose());
    HLOSIM_CHECK(result_.order.size() == graph_.nodes.size(), "{} of {} placed", result_.order.size(),
                 graph_.nodes.size());
    return std::move(result_);
  }

 private:
  struct State {
    int32_t waits_for = 0;  // users that have no place
    int64_t ready = 0;      // when it may end, counted from the end of the computation; then when it begins
  };
  /// What the rules look at, found out once for each instruction and step.
  struct Candidate {
    int32_t node = 0;
    bool is_done = false, releases = false, awaited = false, unlocks_done = false;
    int32_t unlocks = 0;
    int64_t stall = 0;
    int64_t over = 0, change = 0;  // bytes beyond the limits; that come to be alive
  };

  const ScheduleNode& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }

  // ── what is a candidate ──

  bool fits(const ScheduleNode& at) const {
    const auto taken = [&](AsyncKind kind) {
      return in_flight_[index_of(kind)] >= options_.overlap_limit[index_of(kind)];
    };
    if (at.ends != AsyncKind::kNone) return !taken(at.ends);
    return std::none_of(at.inside.begin(), at.inside.end(), taken);
  }

  /// Index into ready_.
  size_t choose() {
    for (size_t i = ready_.size(); i-- > 0;)
      if (node(ready_[i]).is_free) return i;
    awaited_.fill(false);
    for (const int32_t i : ready_)
      if (!fits(node(i))) await(node(i));
    memory_counts_ = memory_is_short();
    until_start_ = latency_left();
    std::optional<size_t> best;
    Candidate best_candidate;
    const auto consider = [&](size_t i) {
      const Candidate candidate = look_at(ready_[i]);
      if (!best || better(candidate, best_candidate)) best = i, best_candidate = candidate;
    };
    for (size_t i = 0; i < ready_.size(); ++i)
      if (fits(node(ready_[i]))) consider(i);
    if (best) return *best;
    ++result_.exceeded_limits;
    for (size_t i = 0; i < ready_.size(); ++i) consider(i);
    return *best;
  }

  void await(const ScheduleNode& at) {
    if (at.ends != AsyncKind::kNone) awaited_[index_of(at.ends)] = true;
    for (const AsyncKind kind : at.inside) awaited_[index_of(kind)] = true;
  }

  /// Some space is more than half full.
  bool memory_is_short() {
    if (!pressure_) return false;
    bool is_short = false;
    for (size_t space = 0; space < SpaceBytes::kCount; ++space) {
      const int64_t now = pressure_->now()[space];
      result_.needed[space] = std::max(result_.needed[space], 2 * now);
      is_short |= now > limits_[space] / 2;
    }
    return is_short;
  }

  /// Until the first of the starts that only wait for their latency.
  int64_t latency_left() const {
    int64_t left = 0;
    for (const int32_t i : ready_) {
      const int64_t wait = states_[static_cast<size_t>(i)].ready - now_;
      if (node(i).starts != AsyncKind::kNone && wait > 0 && (left == 0 || wait < left)) left = wait;
    }
    return left;
  }

  Candidate look_at(int32_t i) {
    const ScheduleNode& at = node(i);
    Candidate candidate;
    candidate.node = i;
    candidate.is_done = at.ends != AsyncKind::kNone;
    candidate.releases = at.starts != AsyncKind::kNone;
    candidate.awaited = candidate.releases && awaited_[index_of(at.starts)];
    candidate.stall = std::max<int64_t>(0, states_[static_cast<size_t>(i)].ready - now_);
    for (const ScheduleNode::Edge& edge : at.before) {
      candidate.unlocks_done |= node(edge.node).ends != AsyncKind::kNone;
      candidate.unlocks += states_[static_cast<size_t>(edge.node)].waits_for == 1;
    }
    if (memory_counts_) weigh(at, candidate);
    return candidate;
  }

  void weigh(const ScheduleNode& at, Candidate& candidate) {
    const OrderPressure::Effect effect = pressure_->effect(at.id);
    result_.needed.raise_to(effect.during);
    result_.needed.raise_to(effect.beyond);
    for (size_t space = 0; space < SpaceBytes::kCount; ++space) {
      const int64_t change = effect.beyond[space] - pressure_->now()[space];
      if (pressure_->now()[space] > limits_[space])
        candidate.over += change;  // least increase
      else
        candidate.over +=
            std::max<int64_t>(0, std::max(effect.during[space], effect.beyond[space]) - limits_[space]);
      if (pressure_->now()[space] > limits_[space] / 2) candidate.change += change;
    }
  }

  // ── the rules ──

  /// The first rule in which they differ decides.
  bool better(const Candidate& a, const Candidate& b) const {
    const ScheduleNode &x = node(a.node), &y = node(b.node);
    const bool aggressive = options_.aggressive_scheduling_policies;
    if (a.over != b.over) return a.over < b.over;
    if (options_.depth_based_memory_pressure_reduction && (a.over > 0 || b.over > 0) && x.depth != y.depth)
      return x.depth > y.depth;
    if (a.is_done != b.is_done) return a.is_done;
    const bool x_is_last = a.releases && x.async_depth == 0, y_is_last = b.releases && y.async_depth == 0;
    if (aggressive && options_.prioritize_async_depth_over_stall && x_is_last != y_is_last) return y_is_last;
    if (a.stall != b.stall) return a.stall < b.stall;
    if (options_.enable_release_start_policy && a.releases != b.releases) return a.releases;
    if (aggressive && x_is_last != y_is_last) return y_is_last;
    if (a.awaited != b.awaited) return a.awaited;
    if (aggressive && x.async_depth != y.async_depth) return x.async_depth > y.async_depth;
    if (aggressive && until_start_ > 0 && !a.releases && !b.releases) {
      const int64_t wasted = std::abs(x.cost - until_start_), other = std::abs(y.cost - until_start_);
      if (wasted != other) return wasted < other;
    }
    if (a.unlocks_done != b.unlocks_done) return a.unlocks_done;
    if (aggressive && a.unlocks != b.unlocks) return a.unlocks > b.unlocks;
    if ((a.change < 0) != (b.change < 0)) return a.change < 0;
    return a.node > b.node;
  }

  // ── what placing one does ──

  void place(size_t chosen) {
    const int32_t i = ready_[chosen];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
    const ScheduleNode& at = node(i);
    State& state = states_[static_cast<size_t>(i)];
    if (!at.is_free) now_ = std::max(now_, state.ready) + at.cost;
    state.ready = at.is_free ? state.ready : now_;
    if (at.ends != AsyncKind::kNone) ++in_flight_[index_of(at.ends)];
    if (at.starts != AsyncKind::kNone) {
      int64_t& running = in_flight_[index_of(at.starts)];
      running = std::max<int64_t>(0, running - 1);  // the done may be in another computation
    }
    if (pressure_) pressure_->place(at.id);
    result_.order.push_back(at.id);
    for (const ScheduleNode::Edge& edge : at.before) {
      State& before = states_[static_cast<size_t>(edge.node)];
      if (--before.waits_for > 0) continue;
      for (const ScheduleNode::Edge& after : node(edge.node).after)
        before.ready = std::max(before.ready, states_[static_cast<size_t>(after.node)].ready + after.latency);
      ready_.push_back(edge.node);
    }
    if (options_.resource_sharing) share(at, i);
  }

  // ── copies at the same time: each gets its part of the bandwidth ──

  void share(const ScheduleNode& at, int32_t i) {
    if (at.ends == AsyncKind::kCopy) {
      const auto pair = std::find_if(at.before.begin(), at.before.end(), [&](const ScheduleNode::Edge& edge) {
        return node(edge.node).starts == AsyncKind::kCopy &&
               states_[static_cast<size_t>(edge.node)].waits_for == 0;
      });
      if (pair == at.before.end()) return;
      const auto others = static_cast<int64_t>(sharing_.size());
      if (others > 0) stretch(others + 1, others);
      int64_t& ready = states_[static_cast<size_t>(pair->node)].ready;
      ready = now_ + std::max<int64_t>(ready - now_, 0) * (others + 1);
      sharing_.push_back(pair->node);
    } else if (std::erase(sharing_, i) > 0 && !sharing_.empty()) {
      const auto left = static_cast<int64_t>(sharing_.size());
      stretch(left, left + 1);
    }
  }
  /// What is left of the copies under way takes times / per as long.
  void stretch(int64_t times, int64_t per) {
    for (const int32_t i : sharing_) {
      int64_t& ready = states_[static_cast<size_t>(i)].ready;
      if (ready > now_) ready = now_ + (ready - now_) * times / per;
    }
  }

  const ScheduleGraph& graph_;  // mirrored, where placing begins at the beginning
  const SpaceBytes& limits_;
  const LatencyScheduleOptions& options_;
  std::vector<State> states_;
  std::vector<int32_t> ready_;
  std::unique_ptr<OrderPressure> pressure_;
  std::array<int64_t, kAsyncKindCount + 1> in_flight_{};
  std::array<bool, kAsyncKindCount + 1> awaited_{};
  std::vector<int32_t> sharing_;  // starts of the copies under way
  int64_t now_ = 0;               // from the end of the computation, or from its beginning
  int64_t until_start_ = 0;       // see latency_left()
  bool memory_counts_ = false;
  ListSchedule result_;
};

}  // namespace

ListSchedule schedule_list(const ScheduleGraph& graph, const ScheduleMemory* memory, const SpaceBytes& limits,
                           const LatencyScheduleOptions& options) {
  std::unique_ptr<OrderPressure> pressure;
  if (options.top_down_scheduling) {
    std::vector<InstructionId> all;
    for (const ScheduleNode& node : graph.nodes) all.push_back(node.id);
    if (memory) pressure = std::make_unique<ForwardPressure>(*memory, graph.computation, all);
    return ListMaker(mirrored(graph), std::move(pressure), limits, options).make();
  }
  if (memory) pressure = std::make_unique<BackwardPressure>(*memory, graph.computation);
  ListSchedule schedule = ListMaker(graph, std::move(pressure), limits, options).make();
  std::reverse(schedule.order.begin(), schedule.order.end());
  return schedule;
}

}  // namespace hlosim
