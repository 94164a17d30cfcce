// A lower bound on the time of every prefetch plan, and the optimal plan of a small problem.
//
//   const double least = lower_bound_of(problem).time();                   // picoseconds
//   const ExactPrefetch exact = exact_prefetch(problem, start, 1'000'000);
//   if (exact.proven) …                            // no plan is faster than exact.best
#pragma once

#include "prefetch/prefetch_search.h"

namespace hlosim {

struct PrefetchBound {
  double steps = 0;   // the sum of the steps, each with the choice that is best for it alone
  double memory = 0;  // time in which HBM is busy with unavoidable traffic
  double prefix = 0;  // unavoidable copies before a step plus the steps after it, maximum over steps and ends
  double time() const;
};

/// The bound is max of its members. O(steps + uses).
PrefetchBound lower_bound_of(const PrefetchProblem& problem);

struct ExactPrefetch {
  PrefetchPlans best;
  bool proven = false;  // false: `most_nodes` was not enough, `best` may be beaten
  int64_t nodes = 0;
};

/// Branch and bound over all plans of all values, from the plan `start`. The result is not proven optimal if
/// a step may get slower with more values on the chip, or if copies may replace steps. Memory is checked by
/// the sum of bytes, without fragmentation. Exponential time.
ExactPrefetch exact_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start, int64_t most_nodes);

/// All plans of one value that leave its step in place, the empty plan first; empty if there are more than
/// `most`.
std::vector<ValuePlan> all_plans(const PrefetchProblem& problem, const PrefetchValue& value, size_t most);

}  // namespace hlosim
