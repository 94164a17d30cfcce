// What a search holds: the present plans, the order of the steps, and where there is room for more.
//
//   CopiesUnderWay copies(problem);
//   if (copies.fits(value, plan)) copies.add(value, plan, 1);
//   copies.add(value, plan, -1);              // taken back
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "prefetch/prefetch_order.h"
#include "prefetch/prefetch_search.h"
#include "prefetch/prefetch_simulator.h"

namespace hlosim {

/// Copies that are under way at a time, by region and gap, where there is a limit.
class CopiesUnderWay {
 public:
  explicit CopiesUnderWay(const PrefetchProblem& problem) : problem_(problem) {
    if (!limited()) return;
    for (const PrefetchRegion& region : problem.regions) {
      in_.emplace_back(region.steps.size() + 1);
      out_.emplace_back(region.steps.size() + 1);
    }
  }
  void add(const PrefetchValue& value, const ValuePlan& plan, int32_t sign) {
    if (!limited()) return;
    each(value, plan, [&](bool out, int32_t gap) {
      (out ? out_ : in_)[static_cast<size_t>(value.region)][static_cast<size_t>(gap)] += sign;
      return true;
    });
  }
  bool fits(const PrefetchValue& value, const ValuePlan& plan) {
    if (!limited()) return true;
    bool fits = true;
    add(value, plan, 1);
    each(value, plan, [&](bool out, int32_t gap) {
      const int32_t limit = out ? problem_.max_evictions : problem_.max_prefetches;
      const auto& count = (out ? out_ : in_)[static_cast<size_t>(value.region)];
      fits &= limit < 0 || count[static_cast<size_t>(gap)] <= limit;
      return fits;
    });
    add(value, plan, -1);
    return fits;
  }

 private:
  bool limited() const { return problem_.max_prefetches >= 0 || problem_.max_evictions >= 0; }
  template <class F>
  static void each(const PrefetchValue& value, const ValuePlan& plan, F&& f) {
    for (const PlannedCopy& copy : plan.copies)
      for (const int32_t start : {copy.start, copy.second}) {
        if (start < 0) continue;
        for (int32_t gap = start; gap < value.uses[static_cast<size_t>(copy.first)].position; ++gap)
          if (!f(false, gap)) return;
      }
    for (int32_t gap = plan.evict_start; gap < plan.evict_done; ++gap)
      if (!f(true, gap)) return;
  }
  const PrefetchProblem& problem_;
  std::vector<std::vector<int32_t>> in_, out_;
};

/// The present plans, their time and their space.
class PrefetchState {
 public:
  PrefetchState(const PrefetchProblem& problem, const PrefetchSearchOptions& options)
      : given_(problem),
        problem_(problem),
        options_(options),
        simulator_(problem_),
        space_(problem_),
        under_way_(problem_) {
    if (options.reorder && problem.freedom.any()) values_of_ = values_of_steps(problem);
  }

  const PrefetchProblem& problem() const { return problem_; }
  const PrefetchSimulator& simulator() const { return simulator_; }
  const ValuePlan& plan(int32_t v) const { return simulator_.plan(v); }
  double score() const { return simulator_.time() + options_.traffic_weight * simulator_.hbm(); }
  int64_t evaluations() const { return evaluations_; }

  /// Takes `plan` for `v` if there is room; the one before stays otherwise.
  bool put(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const ValuePlan before = simulator_.plan(v);
    release(value, before);
    if (!space_.fits(value, plan) || !under_way_.fits(value, plan)) {
      occupy(value, before);
      return false;
    }
    occupy(value, plan);
    simulator_.set(v, plan);
    ++evaluations_;
    return true;
  }
  /// Requires: there is room.
  void put_back(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    release(value, simulator_.plan(v));
    occupy(value, plan);
    simulator_.set(v, plan);
  }
  bool room_beside(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
    const ValuePlan before = simulator_.plan(v);
    release(value, before);
    const bool fits = space_.fits(value, plan) && under_way_.fits(value, plan);
    occupy(value, before);
    return fits;
  }
  PrefetchPlans result() const {
    return {simulator_.plans(), simulator_.time(), simulator_.hbm(), evaluations_, false, {}};
  }

  // ── the order of steps ──

  /// Two neighbours that changed places, and plans as they were.
  struct Exchange {
    int32_t first = 0;
    std::vector<std::pair<int32_t, ValuePlan>> plans;
  };
  /// Steps `first` and `first` + 1 change places; plans follow. False: there is no room for one of them, and
  /// take_back() has to come. Times are right after update().
  bool exchange(int32_t first, Exchange& done) {
    done.first = first;
    done.plans.clear();
    for (const int32_t v : concerned(first)) done.plans.emplace_back(v, simulator_.plan(v));
    release_all(done);
    hlosim::exchange(problem_, first, concerned_);
    touch(first);
    bool fits = true;
    for (const auto& [v, before] : done.plans) {
      const PrefetchValue& value = problem_.values[static_cast<size_t>(v)];
      ValuePlan plan = before;
      adapt(value, problem_, plan);
      fits = fits && space_.fits(value, plan) && under_way_.fits(value, plan);
      if (!fits) plan = {};
      occupy(value, plan);
      simulator_.add_plan(v, plan);
    }
    return fits;
  }
  /// Requires: nothing else has changed since.
  void take_back(const Exchange& done) {
    concerned(done.first);
    release_all(done);
    hlosim::exchange(problem_, done.first, concerned_);
    touch(done.first);
    for (const auto& [v, before] : done.plans) {
      occupy(problem_.values[static_cast<size_t>(v)], before);
      simulator_.add_plan(v, before);
    }
  }
  void update() {
    simulator_.update();
    ++evaluations_;
  }
  /// Requires: all plans are empty.
  void set_order(std::span<const int32_t> order) {
    hlosim::set_order(problem_, given_, order);
    for (const PrefetchStep& step : problem_.steps) simulator_.touch(step.region, step.position);
    simulator_.update();
  }

 private:
  void release(const PrefetchValue& value, const ValuePlan& plan) {
    space_.add(value, plan, -1);
    under_way_.add(value, plan, -1);
  }
  void occupy(const PrefetchValue& value, const ValuePlan& plan) {
    space_.add(value, plan, 1);
    under_way_.add(value, plan, 1);
  }
  /// Values that one of two neighbours makes or uses.
  const std::vector<int32_t>& concerned(int32_t first) {
    const auto i = static_cast<size_t>(first);
    const std::vector<int32_t>& a = values_of_[static_cast<size_t>(problem_.steps[i].number)];
    const std::vector<int32_t>& b = values_of_[static_cast<size_t>(problem_.steps[i + 1].number)];
    concerned_.clear();
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(concerned_));
    return concerned_;
  }
  void release_all(const Exchange& done) {
    for (const auto& [v, before] : done.plans) {
      release(problem_.values[static_cast<size_t>(v)], simulator_.plan(v));
      simulator_.remove_plan(v);
    }
  }
  void touch(int32_t first) {
    const PrefetchStep& step = problem_.steps[static_cast<size_t>(first)];
    simulator_.touch(step.region, step.position);
    simulator_.touch(step.region, step.position + 1);
  }

  const PrefetchProblem& given_;
  PrefetchProblem problem_;  // in the present order
  const PrefetchSearchOptions& options_;
  PrefetchSimulator simulator_;
  ChipSpace space_;
  CopiesUnderWay under_way_;
  int64_t evaluations_ = 0;
  std::vector<std::vector<int32_t>> values_of_;  // by number of the step
  std::vector<int32_t> concerned_;
};

/// The latest gap from which on HBM is free for `needed` up to `position`; the earliest possible one if there
/// is none.
int32_t start_for(const PrefetchSimulator& simulator, const PrefetchValue& value, int32_t position,
                  double needed);

}  // namespace hlosim
