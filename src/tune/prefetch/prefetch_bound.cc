#include "prefetch/prefetch_bound.h"

#include <algorithm>
#include <numeric>

#include "prefetch/prefetch_simulator.h"

namespace hlosim {
namespace {

/// Least work of a region: time and HBM with every site on the chip.
struct Least {
  double time = 0, hbm = 0;
};

class Bounder {
 public:
  explicit Bounder(const PrefetchProblem& problem) : problem_(problem), least_(problem.regions.size()) {
    by_region_.resize(problem.regions.size());
    for (size_t v = 0; v < problem.values.size(); ++v)
      by_region_[static_cast<size_t>(problem.values[v].region)].push_back(&problem.values[v]);
  }

  PrefetchBound run() {
    PrefetchBound bound;
    for (size_t r = 0; r < problem_.regions.size(); ++r) {
      const StepSums sums = sums_of(static_cast<int32_t>(r));
      Least& least = least_[r];
      least.time = std::accumulate(sums.time.begin(), sums.time.end(), 0.0);
      least.hbm = std::accumulate(sums.hbm.begin(), sums.hbm.end(), 0.0);
      bound.steps = least.time;
      const Mandatory mandatory = mandatory_of(static_cast<int32_t>(r));
      const double prefix = ends_bound(static_cast<int32_t>(r), sums, mandatory);
      least.hbm += mandatory.all;
      bound.memory = least.hbm;
      bound.prefix = prefix;
      least.time = std::max({least.time, least.hbm, prefix});
    }
    return bound;
  }

 private:
  struct StepSums {
    std::vector<double> time, hbm;  // by position
  };
  struct Mandatory {
    double all = 0;
    std::vector<double> reads;   // by position: what has to come from HBM before or in that step
    std::vector<double> writes;  // what has to go there in or after it
  };

  StepSums sums_of(int32_t region) const {
    StepSums sums;
    for (const int32_t s : problem_.regions[static_cast<size_t>(region)].steps) {
      const PrefetchStep& step = problem_.steps[static_cast<size_t>(s)];
      StepCost cost = problem_.least_cost(step);
      Least longest;
      for (const StepCall& call : step.calls) {
        const Least& callee = least_[static_cast<size_t>(call.region)];
        if (!call.one_of_several)
          cost.time += call.times * callee.time, cost.hbm += call.times * callee.hbm;
        else
          longest = {std::max(longest.time, callee.time), std::min(longest.hbm, callee.hbm)};
      }
      sums.time.push_back(cost.time + longest.time);
      sums.hbm.push_back(cost.hbm);  // of branches: any of them may be the longest
    }
    return sums;
  }

  /// HBM time that a site costs when it is the only one in HBM.
  double last_saving(const PrefetchStep& step, int32_t bit) const {
    const uint32_t all = (uint32_t{1} << step.sites) - 1;
    return std::max(problem_.cost(step, all & ~(uint32_t{1} << bit)).hbm - problem_.cost(step, all).hbm, 0.0);
  }
  /// So much of it that sites in HBM together cost at least the sum, whichever they are.
  double saved_by(const PrefetchStep& step, int32_t bit) const {
    const double least = problem_.least_cost(step).hbm;
    double part = 1;
    for (int32_t e = 0; e < cost_entries(step.sites); ++e) {
      const uint32_t mask = mask_of_entry(step.sites, e);
      double sum = 0;
      for (int32_t other = 0; other < step.sites; ++other)
        if ((mask >> other & 1) == 0) sum += last_saving(step, other);
      if (sum > 0) part = std::min(part, (problem_.cost(step, mask).hbm - least) / sum);
    }
    return std::max(part, 0.0) * last_saving(step, bit);
  }

  Mandatory mandatory_of(int32_t region) const {
    Mandatory found;
    const auto positions = static_cast<size_t>(problem_.size_of(region)) + 1;
    found.reads.resize(positions), found.writes.resize(positions);
    for (const PrefetchValue* value : by_region_[static_cast<size_t>(region)]) {
      if (value->made_bit < 0) {  // in HBM from the start: read there, or copied
        double least = value->hbm_in;
        int32_t first = -1;
        for (const PrefetchUse& use : value->uses) {
          if (use.bit < 0) continue;
          least = std::min(least, saved_by(problem_.step(region, use.position), use.bit));
          if (first < 0) first = use.position;
        }
        if (first < 0) continue;
        found.all += least;
        if (value->made_at < 0) found.reads[static_cast<size_t>(first)] += least;
      } else if (std::ranges::any_of(value->uses, [](const PrefetchUse& use) { return use.bit < 0; })) {
        const double least =
            std::min(value->hbm_out, saved_by(problem_.step(region, value->made_at), value->made_bit));
        found.all += least;
        found.writes[static_cast<size_t>(value->made_at)] += least;
      }
    }
    return found;
  }

  /// When a step ends, what is read before it has to have come; after it, every step takes its least. And the
  /// other way round. Before and after it in every order, that is.
  double ends_bound(int32_t region, const StepSums& sums, const Mandatory& mandatory) const {
    const auto steps = static_cast<int32_t>(sums.time.size());
    std::vector<double> reads(sums.time.size() + 1), writes = reads, times = reads;  // of all before
    for (size_t p = 0; p < sums.time.size(); ++p) {
      reads[p + 1] = reads[p] + sums.hbm[p] + mandatory.reads[p];
      writes[p + 1] = writes[p] + sums.hbm[p] + mandatory.writes[p];
      times[p + 1] = times[p] + sums.time[p];
    }
    double best = 0;
    for (int32_t first = 0, last = 0; first < steps; first = last + 1) {
      last = end_of_run(region, first);
      const std::vector<std::vector<uint8_t>> comes_before = before_each(region, first, last);
      const auto b = static_cast<size_t>(first), e = static_cast<size_t>(last) + 1;
      for (size_t p = b; p < e; ++p) {
        double read = reads[b] + reads[p + 1] - reads[p], after = times.back() - times[e];
        double written = writes.back() - writes[e] + writes[p + 1] - writes[p], before = times[b];
        for (size_t q = b; q < e && !comes_before.empty(); ++q) {
          if (comes_before[p - b][q - b] != 0)
            read += reads[q + 1] - reads[q], before += times[q + 1] - times[q];
          if (comes_before[q - b][p - b] != 0)
            written += writes[q + 1] - writes[q], after += times[q + 1] - times[q];
        }
        best = std::max({best, read + after, written + before});
      }
    }
    return best;
  }

  const PrefetchStep& step(int32_t region, int32_t position) const { return problem_.step(region, position); }
  /// Steps from `first` on that may change places.
  int32_t end_of_run(int32_t region, int32_t first) const {
    const PrefetchFreedom& freedom = problem_.freedom;
    const auto movable = [&](int32_t position) {
      return freedom.any() && freedom.movable[static_cast<size_t>(step(region, position).number)];
    };
    int32_t last = first;
    while (movable(first) && last + 1 < problem_.size_of(region) && movable(last + 1)) ++last;
    return last;
  }
  /// Which steps of a run come before each of it, whatever the order; nothing where there are too many.
  std::vector<std::vector<uint8_t>> before_each(int32_t region, int32_t first, int32_t last) const {
    constexpr int32_t kMost = 2000;
    if (first == last || last - first >= kMost) return {};
    const auto count = static_cast<size_t>(last - first) + 1;
    std::vector<std::vector<uint8_t>> found(count, std::vector<uint8_t>(count));
    for (size_t p = 0; p < count; ++p) {
      const int32_t number = step(region, first + static_cast<int32_t>(p)).number;
      for (const int32_t other : problem_.freedom.after[static_cast<size_t>(number)]) {
        const int32_t position = problem_.steps[static_cast<size_t>(other)].position;
        if (position < first || position > last) continue;
        const auto q = static_cast<size_t>(position - first);
        found[p][q] = 1;
        for (size_t i = 0; i < q; ++i) found[p][i] |= found[q][i];
      }
    }
    return found;
  }

  const PrefetchProblem& problem_;
  std::vector<Least> least_;
  std::vector<std::vector<const PrefetchValue*>> by_region_;
};

class BranchAndBound {
 public:
  BranchAndBound(const PrefetchProblem& problem, const PrefetchPlans& start, int64_t most_nodes)
      : problem_(problem), simulator_(problem), space_(problem), most_nodes_(most_nodes) {
    result_.best = start;
    if (start.plans.empty()) {
      result_.best.plans.resize(problem.values.size());
      result_.best.time = simulator_.time();
    }
  }

  ExactPrefetch run() {
    if (!problem_.costs_fall() || problem_.may_replace_steps()) return std::move(result_);
    constexpr size_t kMostPlans = 20000;
    for (size_t v = 0; v < problem_.values.size(); ++v) {
      const PrefetchValue& value = problem_.values[v];
      plans_.push_back(all_plans(problem_, value, kMostPlans));
      if (plans_.back().empty()) return std::move(result_);
      if (plans_.back().size() > 1) order_.push_back(static_cast<int32_t>(v));
    }
    for (const int32_t v : order_) simulator_.assume_on_chip(v, true);
    // First the values that matter most: those whose sites cost most when they are in HBM.
    std::vector<double> weight(problem_.values.size());
    const double all = simulator_.time();
    for (const int32_t v : order_) {
      simulator_.assume_on_chip(v, false);
      weight[static_cast<size_t>(v)] = simulator_.time() - all;
      simulator_.assume_on_chip(v, true);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) {
      return weight[static_cast<size_t>(a)] > weight[static_cast<size_t>(b)];
    });
    result_.proven = true;
    branch(0);
    result_.best.evaluations = result_.nodes;
    return std::move(result_);
  }

 private:
  /// Values before `depth` are decided; those behind cost nothing.
  void branch(size_t depth) {
    if (depth == order_.size()) {
      result_.best.plans = simulator_.plans();
      result_.best.time = simulator_.time(), result_.best.hbm = simulator_.hbm();
      return;
    }
    const int32_t v = order_[depth];
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    struct Child {
      double bound;
      size_t plan;
    };
    std::vector<Child> children;
    simulator_.assume_on_chip(v, false);
    const std::vector<ValuePlan>& plans = plans_[static_cast<size_t>(v)];
    for (size_t i = 0; i < plans.size(); ++i) {
      if (++result_.nodes > most_nodes_) result_.proven = false;
      if (!result_.proven) break;
      if (!space_.fits(value, plans[i])) continue;
      simulator_.set(v, plans[i]);
      if (simulator_.time() < limit()) children.push_back({simulator_.time(), i});
    }
    simulator_.set(v, {});
    std::stable_sort(children.begin(), children.end(),
                     [](const Child& a, const Child& b) { return a.bound < b.bound; });
    for (const Child& child : children) {
      if (!result_.proven || child.bound >= limit()) break;
      simulator_.set(v, plans[child.plan]);
      space_.add(value, plans[child.plan]);
      branch(depth + 1);
      space_.add(value, plans[child.plan], -1);
      simulator_.set(v, {});
    }
    simulator_.assume_on_chip(v, true);
  }
  /// Less than this is an improvement and not rounding.
  double limit() const { return result_.best.time * (1 - 1e-12); }

  const PrefetchProblem& problem_;
  PrefetchSimulator simulator_;
  ChipSpace space_;
  int64_t most_nodes_;
  std::vector<std::vector<ValuePlan>> plans_;
  std::vector<int32_t> order_;
  ExactPrefetch result_;
};

/// Adds every choice of copies for uses from `first` on.
void add_copies(const PrefetchProblem& problem, const PrefetchValue& value, int32_t first, ValuePlan& plan,
                size_t most, std::vector<ValuePlan>& found) {
  if (found.size() > most) return;
  const auto uses = static_cast<int32_t>(value.uses.size());
  ValuePlan whole = plan;
  if (complete(value, problem, whole)) found.push_back(whole);
  for (int32_t i = first; i < uses; ++i) {
    if (value.uses[static_cast<size_t>(i)].bit < 0) continue;
    for (int32_t last = i; last < uses; ++last) {
      if (value.uses[static_cast<size_t>(last)].bit < 0) continue;
      for (int32_t start = value.made_at + 1; start < value.uses[static_cast<size_t>(i)].position; ++start) {
        const int32_t done = value.uses[static_cast<size_t>(i)].position;
        for (int32_t second = -1; second < done && (second < 0 || value.has_halves());
             second = second < 0 ? start + 1 : second + 1) {
          plan.copies.push_back({start, i, last, second});
          add_copies(problem, value, last + 1, plan, most, found);
          plan.copies.pop_back();
        }
      }
    }
  }
}

}  // namespace

double PrefetchBound::time() const { return std::max({steps, memory, prefix}); }

PrefetchBound lower_bound_of(const PrefetchProblem& problem) { return Bounder(problem).run(); }

std::vector<ValuePlan> all_plans(const PrefetchProblem& problem, const PrefetchValue& value, size_t most) {
  std::vector<ValuePlan> found;
  ValuePlan plan;
  add_copies(problem, value, 0, plan, most, found);
  if (value.made_bit >= 0) {
    plan.made_on_chip = true;
    for (int32_t until = -1; until < static_cast<int32_t>(value.uses.size()); ++until) {
      if (until >= 0 && value.uses[static_cast<size_t>(until)].bit < 0) continue;
      plan.kept_until = until;
      add_copies(problem, value, until + 1, plan, most, found);
    }
  }
  if (found.size() > most) found.clear();
  return found;
}

ExactPrefetch exact_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start, int64_t most_nodes) {
  return BranchAndBound(problem, start, most_nodes).run();
}

}  // namespace hlosim
