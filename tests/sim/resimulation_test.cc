// A Resimulation keeps no records and gives the totals of simulate().
#include "sim/resimulation.h"

#include <gtest/gtest.h>

#include "model/instruction_cost.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

void expect_same_totals(const std::string& name, Module& module, const Device& device) {
  SimulateOptions options;
  options.keep_timeline = false;
  const Result<Simulation> whole = simulate(module, op_table(), device, options);
  if (!whole) return;
  AssumptionList assumptions;
  const Result<InstructionCosts> costs =
      cost_instructions(module, op_table(), device, {options.custom_calls}, assumptions);
  ASSERT_TRUE(costs) << name;
  const auto again = Resimulation::make(module, op_table(), device, options);
  ASSERT_TRUE(again) << name;
  const Result<Totals> totals = (*again)->run(*costs, false);
  ASSERT_TRUE(totals) << name;
  EXPECT_EQ(totals->makespan, whole->totals.makespan) << name;
  EXPECT_EQ(totals->busy, whole->totals.busy) << name;
  EXPECT_EQ(totals->traffic, whole->totals.traffic) << name;
  EXPECT_EQ(totals->idle, whole->totals.idle) << name;
}

// Computations wait at their end for transfers without a done; there is no record to add the wait to.
TEST(Resimulation, WaitsForTransfersWithoutADone) {
  Module module = test::module_or_fail(R"(HloModule no_done, is_scheduled=true
ENTRY e {
  p = f32[64,1024]{1,0:T(8,128)} parameter(0)
  h = f32[64,1024]{1,0:T(8,128)} negate(p)
  c = (f32[64,1024]{1,0:T(8,128)S(1)}, f32[64,1024]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(h)
  ROOT o = (f32[64,1024]{1,0:T(8,128)}) tuple(h)
}
)");
  expect_same_totals("no done", module, test::device_or_fail("v5e"));
}

TEST(Resimulation, GivesTheTotalsOfASimulation) {
  const Device device = test::device_or_fail("v5e");
  size_t count = 0;
  test::for_each_module(60, [&](const std::string& file, Module& module) {
    LaidOut laid_out = lay_out(module, device);
    expect_same_totals(file, laid_out.module, device);
    ++count;
  });
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace hlosim
