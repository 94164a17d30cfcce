#include "prefetch/prefetch_loops.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// Steps of one number take the same time wherever their sites lie. What calls others is like nothing else.
std::vector<int32_t> kinds_of(const PrefetchProblem& problem, const PrefetchRegion& region) {
  std::map<std::vector<double>, int32_t> known;
  std::vector<int32_t> kinds;
  for (const int32_t s : region.steps) {
    const PrefetchStep& step = problem.steps[static_cast<size_t>(s)];
    std::vector<double> times;
    for (int32_t e = 0; e < cost_entries(step.sites); ++e) {
      const StepCost& cost = problem.costs[static_cast<size_t>(step.first_cost + e)];
      times.insert(times.end(), {cost.time, cost.hbm});
    }
    if (!step.calls.empty()) times = {-1.0, static_cast<double>(s)};
    kinds.push_back(known.try_emplace(std::move(times), static_cast<int32_t>(known.size())).first->second);
  }
  return kinds;
}

/// One loop, with a ring of the steps of an iteration.
class LoopDecider {
 public:
  LoopDecider(const PrefetchProblem& problem, const XlaKnobs& knobs, const UnrolledLoop& loop)
      : problem_(problem),
        knobs_(knobs),
        loop_(loop),
        used_(static_cast<size_t>(loop.length)),
        masks_(static_cast<size_t>(loop.length)),
        idle_(static_cast<size_t>(loop.length)) {
    const auto& steps = problem.regions[static_cast<size_t>(loop.region)].steps;
    for (int32_t p = 0; p < loop.length * loop.count && !problem.taken.empty(); ++p) {
      const int32_t step = steps[static_cast<size_t>(loop.begin + p)];
      int64_t& used = used_[static_cast<size_t>(p % loop.length)];
      used = std::max(used, problem.taken[static_cast<size_t>(step)]);
    }
  }

  void decide(std::vector<LoopDecision>& out) {
    find_groups();
    for (Group& group : groups_)
      if (group.role != Role::kCopied && fits(group, group.first, group.last)) take(group, out);
    for (const Group& group : groups_)
      if (group.role == Role::kCopied) mark(group);
    for (int32_t o = 0; o < loop_.length; ++o) {
      const StepCost cost = problem_.cost(step_at(o), masks_[static_cast<size_t>(o)]);
      idle_[static_cast<size_t>(o)] = cost.time - cost.hbm;
    }
    for (Group& group : groups_)
      if (group.role == Role::kCopied && find_start(group)) take(group, out);
  }

 private:
  enum class Role : uint8_t { kMade, kPinned, kCopied };
  /// What is the same value in all iterations, or stands for each other there.
  struct Group {
    Role role = Role::kMade;
    std::vector<std::pair<int32_t, int32_t>> values;  // iteration, value
    int32_t first = 0, last = 0;                      // on the chip, counted from its iteration's beginning
    double density = 0;                               // time saved per byte
    int32_t start = 0;                                // gap, of copied ones
  };
  using Signature = std::tuple<Role, int64_t, int32_t, std::vector<std::pair<int32_t, int32_t>>>;

  const PrefetchStep& step_at(int32_t offset) const {
    return problem_.step(loop_.region, loop_.begin + offset % loop_.length);
  }
  int32_t end() const { return loop_.begin + loop_.length * loop_.count; }

  // ── values ──

  void find_groups() {
    std::map<Signature, std::vector<std::pair<int32_t, int32_t>>> found;
    for (size_t v = 0; v < problem_.values.size(); ++v) {
      const PrefetchValue& value = problem_.values[v];
      const bool all_on_chip =
          std::ranges::all_of(value.uses, [](const PrefetchUse& use) { return use.bit >= 0; });
      if (value.region != loop_.region || !all_on_chip) continue;
      const int32_t first = value.uses.front().position, last = value.uses.back().position;
      if (first < loop_.begin || last >= end()) continue;
      const bool made_inside = value.made_at >= loop_.begin;
      if (made_inside && value.made_bit < 0) continue;
      const int32_t iteration = ((made_inside ? value.made_at : first) - loop_.begin) / loop_.length;
      const int32_t begin = loop_.begin + iteration * loop_.length;
      // Over more than two iterations it has to be in all of them.
      const Role role = made_inside                   ? Role::kMade
                        : last < begin + loop_.length ? Role::kCopied
                                                      : Role::kPinned;
      if (role == Role::kMade && last - value.made_at >= loop_.length) continue;
      if (role == Role::kPinned && !is_in_all(value)) continue;
      Signature signature{role, value.bytes, made_inside ? value.made_at - begin : -1, {}};
      for (const PrefetchUse& use : value.uses)
        std::get<3>(signature).emplace_back(use.position - begin, use.bit);
      found[std::move(signature)].emplace_back(iteration, static_cast<int32_t>(v));
    }
    for (auto& [signature, values] : found) add_groups(std::get<0>(signature), values);
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.density > b.density; });
  }

  bool is_in_all(const PrefetchValue& value) const {
    std::vector<uint8_t> seen(static_cast<size_t>(loop_.count));
    for (const PrefetchUse& use : value.uses)
      seen[static_cast<size_t>((use.position - loop_.begin) / loop_.length)] = 1;
    return std::ranges::count(seen, 1) == loop_.count;
  }

  /// Several values of an iteration may be alike: the first ones go together, then the second ones, …
  void add_groups(Role role, const std::vector<std::pair<int32_t, int32_t>>& values) {
    std::vector<std::vector<std::pair<int32_t, int32_t>>> rows;
    std::vector<size_t> count(static_cast<size_t>(loop_.count));
    for (const auto& one : values) {
      const size_t row = count[static_cast<size_t>(one.first)]++;
      if (row == rows.size()) rows.emplace_back();
      rows[row].push_back(one);
    }
    for (auto& row : rows) {
      if (role != Role::kPinned && static_cast<double>(row.size()) < least_iterations()) continue;
      Group group;
      group.role = role;
      const PrefetchValue& value = problem_.values[static_cast<size_t>(row[0].second)];
      const int32_t begin = loop_.begin + row[0].first * loop_.length;
      group.first = role == Role::kMade ? value.made_at - begin : value.uses.front().position - begin;
      group.last = value.uses.back().position - begin;
      if (role == Role::kPinned) group.first = 0, group.last = loop_.length - 1;
      for_each_site(value, [&](int32_t position, int32_t bit) {
        const PrefetchStep& step = problem_.step(loop_.region, position);
        group.density += problem_.cost(step, 0).time - problem_.cost(step, uint32_t{1} << bit).time;
      });
      group.density /= static_cast<double>(value.bytes);
      group.values = std::move(row);
      if (group.density > 0) groups_.push_back(std::move(group));
    }
  }
  double least_iterations() const { return std::max(knobs_.loop_min_num_iterations, 2.0); }

  template <class F>
  static void for_each_site(const PrefetchValue& value, F&& f) {
    if (value.made_at >= 0 && value.made_bit >= 0) f(value.made_at, value.made_bit);
    for (const PrefetchUse& use : value.uses) f(use.position, use.bit);
  }

  // ── room and time ──

  size_t ring(int32_t offset) const {
    return static_cast<size_t>((offset % loop_.length + loop_.length) % loop_.length);
  }
  int64_t size_of(const Group& group) const {
    const int64_t bytes = problem_.values[static_cast<size_t>(group.values[0].second)].bytes;
    return round_up(bytes, problem_.alignment);
  }
  bool fits(const Group& group, int32_t first, int32_t last) const {
    for (int32_t o = first; o <= last; ++o)
      if (used_[ring(o)] + size_of(group) > problem_.capacity) return false;
    return true;
  }

  void mark(const Group& group) {
    for_each_site(problem_.values[static_cast<size_t>(group.values[0].second)],
                  [&](int32_t position, int32_t bit) {
                    if (position >= loop_.begin) masks_[ring(position - loop_.begin)] |= uint32_t{1} << bit;
                  });
  }

  /// Back from the first use to behind the last one of the iteration before, as long as there is room: up to
  /// where HBM has been idle for the whole copy. Less may do.
  bool find_start(Group& group) {
    if (!fits(group, group.first, group.last)) return false;
    const double copy = problem_.values[static_cast<size_t>(group.values[0].second)].copy_in;
    const int32_t earliest = group.last + 1 - loop_.length;
    double idle = 0;
    bool found = false;
    for (int32_t o = group.first - 1; o >= earliest && fits(group, o, o); --o) {
      idle += idle_[ring(o)];
      if (idle >= copy) {
        group.start = o;
        found = true;
        break;
      }
      const bool enough = idle >= copy * knobs_.loop_desired_copy_ratio;
      const bool anyway = o == earliest && knobs_.loop_allow_unsatisfied_fully_pipelined_prefetch;
      if (!found && (enough || anyway)) group.start = o, found = true;
    }
    if (!found) return false;
    double left = copy;
    for (int32_t o = group.start; o < group.first; ++o) {
      const double taken = std::min(left, idle_[ring(o)]);
      idle_[ring(o)] -= taken, left -= taken;
    }
    return true;
  }

  void take(const Group& group, std::vector<LoopDecision>& out) {
    const bool copied = group.role == Role::kCopied;
    for (int32_t o = copied ? group.start : group.first; o <= group.last; ++o)
      used_[ring(o)] += size_of(group);
    mark(group);
    for (const auto& [iteration, v] : group.values) {
      const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
      const auto last = static_cast<int32_t>(value.uses.size()) - 1;
      LoopDecision decision{v, {}};
      if (group.role == Role::kMade) decision.plan.made_on_chip = true, decision.plan.kept_until = last;
      if (copied) {
        const int32_t start = loop_.begin + iteration * loop_.length + group.start;
        decision.plan.copies.push_back({std::max({start, value.made_at + 1, 0}), 0, last});
      }
      out.push_back(std::move(decision));
    }
  }

  const PrefetchProblem& problem_;
  const XlaKnobs& knobs_;
  const UnrolledLoop loop_;
  std::vector<Group> groups_;
  std::vector<int64_t> used_;    // by step of an iteration: bytes
  std::vector<uint32_t> masks_;  // sites on the chip
  std::vector<double> idle_;     // of HBM
};

}  // namespace

std::vector<UnrolledLoop> unrolled_loops(const PrefetchProblem& problem, double least_iterations) {
  constexpr int32_t kLongest = 2000;
  std::vector<UnrolledLoop> found;
  for (size_t r = 0; r < problem.regions.size(); ++r) {
    const std::vector<int32_t> kinds = kinds_of(problem, problem.regions[r]);
    const auto steps = static_cast<int32_t>(kinds.size());
    for (int32_t length = 1; length <= std::min(steps / 2, kLongest); ++length) {
      int32_t same = 0;
      for (int32_t p = 0; p + length <= steps; ++p) {
        const bool alike =
            p + length < steps && kinds[static_cast<size_t>(p)] == kinds[static_cast<size_t>(p + length)];
        if (alike) {
          ++same;
          continue;
        }
        const int32_t count = same / length + 1;
        if (count >= 2 && count >= least_iterations)
          found.push_back({static_cast<int32_t>(r), p - same, length, count});
        same = 0;
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const UnrolledLoop& a, const UnrolledLoop& b) {
    const int64_t x = int64_t{a.length} * a.count, y = int64_t{b.length} * b.count;
    return x != y ? x > y : a.length < b.length;
  });
  std::vector<UnrolledLoop> apart;
  for (const UnrolledLoop& one : found) {
    const bool meets = std::ranges::any_of(apart, [&](const UnrolledLoop& other) {
      return one.region == other.region && one.begin < other.begin + other.length * other.count &&
             other.begin < one.begin + one.length * one.count;
    });
    if (!meets) apart.push_back(one);
  }
  return apart;
}

std::vector<LoopDecision> decide_loops(const PrefetchProblem& problem, const XlaKnobs& knobs) {
  std::vector<LoopDecision> decisions;
  for (const UnrolledLoop& loop : unrolled_loops(problem, knobs.loop_min_num_iterations))
    LoopDecider(problem, knobs, loop).decide(decisions);
  return decisions;
}

}  // namespace hlosim
