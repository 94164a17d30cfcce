// What no plan can beat, and the best plan of all where the problem is small.
//
//   const double least = lower_bound_of(problem).time();                   // picoseconds
//   const ExactPrefetch exact = exact_prefetch(problem, start, 1'000'000);
//   if (exact.proven) …                            // no plan is faster than exact.best
#pragma once

#include "prefetch/prefetch_search.h"

namespace hlosim {

struct PrefetchBound {
  double steps = 0;   // every step with the best choice of its own
  double memory = 0;  // HBM busy with what has to come from it or go there
  double prefix = 0;  // what has to come before some step, then the steps after it; and the same from the end
  double time() const;
};

/// No plan takes less time. O(steps + uses).
PrefetchBound lower_bound_of(const PrefetchProblem& problem);

struct ExactPrefetch {
  PrefetchPlans best;
  bool proven = false;  // false: `most_nodes` was not enough, `best` may be beaten
  int64_t nodes = 0;
};

/// Branch and bound over all plans of all values; nothing is proven where more on the chip makes a step
/// longer, or copies may take the place of steps. `start`: a plan to begin with. Bytes count together, gaps
/// between them don't. O(exponential).
ExactPrefetch exact_prefetch(const PrefetchProblem& problem, const PrefetchPlans& start, int64_t most_nodes);

/// Every plan that a value can have where its step stays, the empty one first; nothing if there are more than
/// `most`.
std::vector<ValuePlan> all_plans(const PrefetchProblem& problem, const PrefetchValue& value, size_t most);

}  // namespace hlosim
