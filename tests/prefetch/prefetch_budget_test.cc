// Searches that the budget ends: wherever it does, the result is right; and nothing is simulated twice.
#include <gmock/gmock.h>

#include "buffers/buffer_analysis.h"
#include "model/native_layouts.h"
#include "oracle/random_module.h"
#include "prefetch/prefetch_input.h"
#include "prefetch/prefetch_search.h"
#include "prefetch/prefetch_simulator.h"
#include "prefetch/prefetch_xla.h"
#include "support/module_files.h"
#include "support/prefetch_problems.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A clock on which a second passes whenever somebody looks.
std::function<double()> ticking() {
  return [ticks = std::make_shared<int64_t>(0)] { return static_cast<double>((*ticks)++); };
}

/// Whatever has been found by then, the module is one, takes as long as is said, and no longer than the
/// input.
void expect_right(const PrefetchResult& result, const Device& device) {
  EXPECT_LE(result.tuned.time, result.input.time);
  EXPECT_LE(result.peak, result.capacity);
  EXPECT_LE(result.bound, result.tuned.time);
  ASSERT_GE(result.candidates.size(), 2u);
  Module again = test::module_or_fail(to_text(result.module, op_table()));
  EXPECT_TRUE(again.is_scheduled());
  EXPECT_EQ(test::simulate_or_fail(again, device).totals.makespan, result.tuned.time);
  EXPECT_EQ(result.cut, testing::Value(result.assumptions, Contains(HasSubstr("the budget ended"))));
}

/// Tunes with more and more time, until there is enough; how often there wasn't.
size_t tune_with_more_and_more_time(const Module& module, const Device& device, PrefetchOptions options) {
  options.moves = 300;
  options.budget = 0;
  const Result<PrefetchResult> whole = tune_prefetch(module, op_table(), device, options);
  EXPECT_TRUE(whole) << (whole ? "" : render(whole.error()));
  if (!whole) return 0;
  EXPECT_FALSE(whole->cut);
  size_t cut = 0;
  for (double budget = 1; budget < 1e6; budget = std::max(budget + 1, budget * 1.1)) {
    SCOPED_TRACE(budget);
    options.budget = budget;
    options.clock = ticking();
    const Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
    EXPECT_TRUE(result) << (result ? "" : render(result.error()));
    if (!result) return cut;
    expect_right(*result, device);
    if (!result->cut) {
      EXPECT_EQ(to_text(result->module, op_table()), to_text(whole->module, op_table()));
      EXPECT_EQ(result->candidates.size(), whole->candidates.size());
      return cut;
    }
    ++cut;
  }
  ADD_FAILURE() << "there is never enough time";
  return cut;
}

TEST(PrefetchBudget, WhereverItEndsTheResultIsRight) {
  const Device device = test::device_or_fail("v5e");
  const Module scheduled = test::module_or_fail(test::own_module("tpu_block"));
  for (const PrefetchAlgorithm algorithm :
       {PrefetchAlgorithm::kXla, PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong}) {
    SCOPED_TRACE(to_text(algorithm));
    PrefetchOptions options;
    options.algorithm = algorithm;
    EXPECT_GT(tune_with_more_and_more_time(scheduled, device, options), 3u);
  }
  size_t unscheduled = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const Module module = test::module_or_fail(test::random_module(seed, false));
    unscheduled += !module.is_scheduled();
    EXPECT_GT(tune_with_more_and_more_time(module, device, {}), 1u);
  }
  EXPECT_GT(unscheduled, 4u);
}

TEST(PrefetchBudget, WithoutAnyTimeTheInputIsTheResult) {
  const Device device = test::device_or_fail("v5e");
  for (const PrefetchAlgorithm algorithm :
       {PrefetchAlgorithm::kXla, PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong}) {
    PrefetchOptions options;
    options.algorithm = algorithm;
    options.budget = 1e-9;
    const Result<PrefetchResult> result =
        tune_prefetch(test::module_or_fail(test::own_module("tpu_block")), op_table(), device, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->chosen, "input") << to_text(algorithm);
    EXPECT_TRUE(result->cut);
    EXPECT_EQ(result->candidates.size(), 2u);
  }
}

TEST(PrefetchBudget, WhatHasNothingToStripIsSimulatedOnce) {
  const Device device = test::device_or_fail("v5e");
  const PrefetchMeasure measure(op_table(), device, {});
  const Module own = test::module_or_fail(test::own_module("tpu_block"));
  SearchClock clock(0, {});
  const Result<PrefetchInput> with_copies = prepare_prefetch(own, measure, true, clock);
  ASSERT_TRUE(with_copies);
  EXPECT_NE(with_copies->input, with_copies->stripped);
  const Result<PrefetchInput> without =
      prepare_prefetch(with_copies->stripped->written, measure, true, clock);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->input, without->stripped);
  EXPECT_FALSE(without->had_copies);
  EXPECT_EQ(without->input->times.time, with_copies->stripped->times.time);
  Module again = test::module_or_fail(to_text(without->input->written, op_table()));
  EXPECT_EQ(test::simulate_or_fail(again, device).totals.makespan, without->input->times.time);
}

TEST(PrefetchBudget, AnotherOrderIsLookedAtWhileThereIsTime) {
  const Device device = test::device_or_fail("v5e");
  const PrefetchMeasure measure(op_table(), device, {});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Module module = test::module_or_fail(test::random_module(seed, false));
    if (module.is_scheduled()) continue;
    SearchClock any(0, {}), none(1, ticking());
    const Result<PrefetchInput> chosen = prepare_prefetch(module, measure, true, any),
                                of_text = prepare_prefetch(module, measure, true, none);
    ASSERT_TRUE(chosen && of_text);
    EXPECT_FALSE(chosen->cut);
    EXPECT_TRUE(of_text->cut);
    EXPECT_EQ(chosen->as_given.time, of_text->input->times.time);
    EXPECT_LE(chosen->input->times.time, of_text->input->times.time);
  }
}

TEST(PrefetchBudget, ModelsWithoutTimeAreMarked) {
  const Device device = test::device_or_fail("v5e");
  Module module = test::module_or_fail(test::own_module("tpu_block"));
  const Simulation baseline = test::simulate_or_fail(module, device);
  const InstructionOrder& order = baseline.schedule.order;
  const auto model = [&](const std::function<bool()>& out_of_time) {
    auto made = make_prefetch_model(module, op_table(), device, order, baseline, {}, {}, out_of_time);
    EXPECT_TRUE(made);
    return std::move(*made);
  };
  int64_t asked = 0;
  const PrefetchModel whole = model([&] { return ++asked < 0; });
  EXPECT_FALSE(whole.cut);
  EXPECT_GT(asked, 1);
  for (int64_t rounds = 0; rounds < asked; ++rounds) {
    int64_t looks = 0;
    EXPECT_TRUE(model([&] { return looks++ == rounds; }).cut) << rounds;
  }
  EXPECT_EQ(model({}).problem.sites(), whole.problem.sites());
}

TEST(PrefetchBudget, PlansWithoutTimeKeepTheRules) {
  const XlaKnobs knobs;
  size_t fewer = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PrefetchProblem problem = test::random_problem(seed, 300, 400);
    int asked = 0;
    const XlaPlans all = xla_prefetch(problem, knobs, {}),
                   some = xla_prefetch(problem, knobs, {}, [&] { return ++asked > 1; });
    EXPECT_EQ(fault_of(problem, some.plans), "") << seed;
    EXPECT_FALSE(all.cut);
    EXPECT_TRUE(some.cut);
    fewer += some.plans != all.plans;
    // Annealing that can't even begin hands on what it was given.
    PrefetchSearchOptions options;
    const PrefetchPlans start = greedy_prefetch(problem, options);
    for (int rounds = 0; rounds < 4; ++rounds) {
      asked = 0;
      options.out_of_time = [&] { return ++asked > rounds; };
      const PrefetchPlans found = improve_prefetch(problem, start, options);
      EXPECT_TRUE(found.cut);
      EXPECT_EQ(fault_of(problem, found.plans), "") << seed;
      EXPECT_LE(found.time, start.time * (1 + 1e-12)) << seed;
      if (rounds == 0) {
        EXPECT_EQ(found.plans, start.plans);
      }
    }
  }
  EXPECT_GT(fewer, 10u);
}

TEST(PrefetchBudget, WhatWasWeighedBeforeItWasLateIsTaken) {
  size_t taken = 0, fewer = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PrefetchProblem problem = test::random_problem(seed, 300, 600);
    const PrefetchPlans all = greedy_prefetch(problem, {});
    EXPECT_FALSE(all.cut);
    for (int rounds = 1; rounds < 4; ++rounds) {
      int asked = 0;
      PrefetchSearchOptions options;
      options.is_late = [&] { return ++asked > rounds; };
      const PrefetchPlans some = greedy_prefetch(problem, options);
      EXPECT_TRUE(some.cut);
      EXPECT_EQ(fault_of(problem, some.plans), "") << seed;
      EXPECT_LE(some.time, PrefetchSimulator(problem).time() * (1 + 1e-12)) << seed;
      taken += static_cast<size_t>(
          std::ranges::count_if(some.plans, [](const ValuePlan& plan) { return !plan.empty(); }));
      fewer += some.plans != all.plans;
    }
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(fewer, 10u);
}

TEST(SearchClock, IsOverAtAPartOrWhenWhatIsReservedIsLeft) {
  double now = 100;
  SearchClock clock(10, [&] { return now; });
  now = 106;
  EXPECT_FALSE(clock.is_over(0.6));
  now = 106.1;
  EXPECT_TRUE(clock.is_over(0.6));
  EXPECT_FALSE(clock.is_over());
  clock.reserve(4);
  EXPECT_TRUE(clock.is_over());
  EXPECT_TRUE(clock.is_late());
  clock.reserve(1);
  EXPECT_FALSE(clock.is_over());
  EXPECT_FALSE(clock.is_late());
  EXPECT_DOUBLE_EQ(clock.passed(), now - 100);
  const SearchClock none(0, [&] { return now++; });
  EXPECT_FALSE(none.is_over(0));
}

}  // namespace
}  // namespace hlosim
