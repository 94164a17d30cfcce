// A module that was simulated while it was lowered isn't simulated again: the estimate is the same.
#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

TEST(ReusedSimulation, SaysWhatANewOneSays) {
  size_t count = 0;
  const Device device = test::device_or_fail("v5e");
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  test::for_each_module(60, [&](const std::string& file, Module& module) {
    Result<Prepared> prepared = prepare(module, op_table(), device, options);
    if (!prepared || !prepared->simulation) return;
    const Result<Estimate> reused = estimate(module, op_table(), device, options);
    const Result<Estimate> anew = estimate(std::move(*prepared), op_table(), device, options.simulate);
    ASSERT_TRUE(reused && anew) << file;
    const Simulation &a = *reused->simulation, &b = *anew->simulation;
    EXPECT_EQ(a.totals.makespan, b.totals.makespan) << file;
    EXPECT_EQ(a.totals.busy, b.totals.busy) << file;
    EXPECT_EQ(a.totals.traffic, b.totals.traffic) << file;
    ASSERT_EQ(a.instructions.size(), b.instructions.size()) << file;
    for (size_t i = 0; i < a.instructions.size(); ++i) {
      EXPECT_EQ(a.instructions[i].id, b.instructions[i].id) << file;
      EXPECT_EQ(a.instructions[i].time, b.instructions[i].time) << file;
    }
    ASSERT_EQ(a.assumptions.items().size(), b.assumptions.items().size()) << file;
    for (size_t i = 0; i < a.assumptions.items().size(); ++i)
      EXPECT_EQ(a.assumptions.items()[i].text, b.assumptions.items()[i].text) << file;
    ++count;
  });
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace hlosim
