// XLA's assigner on problems without modules: what each knob changes.
#include "tune/prefetch_xla.h"

#include <gtest/gtest.h>

#include "support/prefetch_problems.h"

namespace hlosim {
namespace {

/// In the order of their numbers.
XlaHints in_order(const PrefetchProblem& problem) {
  XlaHints hints;
  for (size_t v = 0; v < problem.values.size(); ++v) hints.priority.push_back(static_cast<int64_t>(v));
  return hints;
}

/// Of two stays that lie over each other, or of one that lies outside.
bool places_are_apart(const PrefetchProblem& problem, const XlaPlans& xla) {
  struct Place {
    Stay time;
    int64_t begin, end;
  };
  std::vector<Place> places;
  for (size_t v = 0; v < xla.plans.size(); ++v) {
    const PrefetchValue& value = problem.values[v];
    const std::vector<Stay> all = stays(value, xla.plans[v]);
    if (all.size() != xla.offsets[v].size()) return false;
    for (size_t i = 0; i < all.size(); ++i) {
      const Place one{in_steps(problem, value.region, all[i]), xla.offsets[v][i],
                      xla.offsets[v][i] + value.bytes};
      if (one.begin < 0 || one.end > problem.capacity) return false;
      for (const Place& other : places)
        if (one.time.first <= other.time.last && other.time.first <= one.time.last && one.begin < other.end &&
            other.begin < one.end)
          return false;
      places.push_back(one);
    }
  }
  return true;
}

/// Two small values leave two gaps that a third one would need as one.
PrefetchProblem gaps_apart() {
  test::ProblemMaker maker(1e12);
  for (int i = 0; i < 10; ++i) maker.step(10);
  maker.value(10, 0, {4});
  maker.value(10, 2, {8});
  maker.value(20, 6, {9});
  return maker.make(30);
}

TEST(XlaRepacking, MakesOneGapOfTwo) {
  const PrefetchProblem problem = gaps_apart();
  XlaKnobs knobs;
  XlaPlans xla = xla_prefetch(problem, knobs, in_order(problem));
  EXPECT_TRUE(xla.plans[0].made_on_chip);
  EXPECT_TRUE(xla.plans[1].made_on_chip);
  EXPECT_TRUE(xla.plans[2].empty());
  knobs.max_repacks = 1;
  xla = xla_prefetch(problem, knobs, in_order(problem));
  for (const ValuePlan& plan : xla.plans) EXPECT_TRUE(plan.made_on_chip);
  EXPECT_TRUE(places_are_apart(problem, xla));
}

TEST(XlaRepacking, CountsWhatItTried) {
  // A value that can't fit at all takes the one try there is.
  test::ProblemMaker maker(1e12);
  for (int i = 0; i < 10; ++i) maker.step(10);
  maker.value(10, 0, {4});
  maker.value(25, 1, {3});
  maker.value(10, 2, {8});
  maker.value(20, 6, {9});
  const PrefetchProblem problem = maker.make(30);
  XlaKnobs knobs;
  knobs.max_repacks = 1;
  EXPECT_TRUE(xla_prefetch(problem, knobs, in_order(problem)).plans[3].empty());
  knobs.max_repacks = 2;
  EXPECT_TRUE(xla_prefetch(problem, knobs, in_order(problem)).plans[3].made_on_chip);
}

TEST(XlaRepacking, KeepsTheRulesOfPlans) {
  size_t changed = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const PrefetchProblem problem = test::random_problem(seed, 12, 30);
    XlaKnobs knobs;
    knobs.inefficient_use_to_copy_ratio = 0;
    std::vector<ValuePlan> before;
    for (const int64_t repacks : {0, 100}) {
      knobs.max_repacks = repacks;
      const XlaPlans xla = xla_prefetch(problem, knobs, {});
      ASSERT_EQ(fault_of(problem, xla.plans), "") << "seed " << seed;
      ASSERT_TRUE(places_are_apart(problem, xla)) << "seed " << seed;
      if (repacks == 0)
        before = xla.plans;
      else
        changed += before != xla.plans;
    }
  }
  EXPECT_GT(changed, 10u);
}

}  // namespace
}  // namespace hlosim
