// Plans that make a module short: greedily, then by small random changes.
//
//   PrefetchSearchOptions options;
//   options.moves = 1000;
//   const PrefetchPlans better = improve_prefetch(problem, greedy_prefetch(problem, options), options);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "prefetch/prefetch_problem.h"

namespace hlosim {

struct PrefetchSearchOptions {
  uint64_t seed = 1;
  int64_t moves = 200000;  // changes tried, at most
  /// Asked now and then; true: stop here. What has been found by then depends on when that is.
  std::function<bool()> out_of_time;
  /// The same of greedy_prefetch(); true: nothing else is weighed, and what was is taken as far as it fits.
  std::function<bool()> is_late;
  /// What a picosecond of HBM traffic counts as: among plans that take equally long the one that moves less.
  double traffic_weight = 1e-3;
  bool reorder = false;  // steps change places, too, as far as the problem's freedom allows it
};

struct PrefetchPlans {
  std::vector<ValuePlan> plans;  // by value
  double time = 0, hbm = 0;      // simulated
  int64_t evaluations = 0;
  bool cut = false;  // by out_of_time or is_late
  /// Steps as they run, by number; empty: as in the problem. The plans are those of the problem in this order
  /// (set_order).
  std::vector<int32_t> order;
};

/// The plan that gains most per byte and step on the chip, again and again, as long as it gains anything.
PrefetchPlans greedy_prefetch(const PrefetchProblem& problem, const PrefetchSearchOptions& options);

/// Simulated annealing from `start`, which has no order of its own. The result is never worse than `start`;
/// the same seed and moves give the same result.
PrefetchPlans improve_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start,
                               const PrefetchSearchOptions& options);

}  // namespace hlosim
