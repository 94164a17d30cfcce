// Loops that were unrolled, as XLA's optimizer of memory-bound loops sees them: one decision for all
// iterations.
//
//   for (const UnrolledLoop& loop : unrolled_loops(problem, 3))
//     std::cout << loop.count << " iterations of " << loop.length << " steps";
#pragma once

#include <vector>

#include "prefetch/prefetch_knobs.h"
#include "prefetch/prefetch_problem.h"

namespace hlosim {

/// `count` rows of `length` steps each, from position `begin` on, that take the same time step by step.
struct UnrolledLoop {
  int32_t region = 0, begin = 0, length = 0, count = 0;
};

/// The largest ones first; none that overlap. O(steps · length), lengths up to 2,000.
std::vector<UnrolledLoop> unrolled_loops(const PrefetchProblem& problem, double least_iterations);

struct LoopDecision {
  int32_t value = 0;
  ValuePlan plan;  // empty: to be decided before other values, by the rules for those
};
/// What is to be tried first: what iterations make for themselves or read all, then copies that begin as many
/// steps ahead in each of them, in the one before if need be.
std::vector<LoopDecision> decide_loops(const PrefetchProblem& problem, const XlaKnobs& knobs);

}  // namespace hlosim
