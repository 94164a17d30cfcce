// Costs of one instruction after the other, while shapes around fusions change.
#include "model/cost_details.h"

#include <gtest/gtest.h>

#include "support/simulations.h"

namespace hlosim {
namespace {

TEST(CostProbe, AroundBodiesCostsAreThoseOfTheModuleAsItIs) {
  Module module = test::module_or_fail(R"(
HloModule m, is_scheduled=true
f {
  a = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  b = f32[1024,1024]{1,0:T(8,128)} parameter(1)
  s = f32[1024,1024]{1,0:T(8,128)} add(a, b)
  ROOT t = f32[1024,1024]{1,0:T(8,128)} tanh(s)
}
ENTRY e {
  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  q = f32[1024,1024]{1,0:T(8,128)} negate(p)
  g = f32[1024,1024]{1,0:T(8,128)} fusion(p, q), kind=kLoop, calls=f
  ROOT r = f32[1024,1024]{1,0:T(8,128)} multiply(g, p)
}
)");
  const Device device = test::device_or_fail("v5e");
  const auto probe = CostProbe::make(module, op_table(), device, {});
  ASSERT_TRUE(probe);
  const std::vector<InstructionId> entry = module.entry_computation().instructions;
  Picoseconds before{};
  for (const int64_t space : {0, 1}) {
    module.instructions[entry[1]].shape = module.shapes().with_memory_space(module[entry[1]].shape, space);
    AssumptionList ignored;
    const auto costs = cost_instructions(module, op_table(), device, {}, ignored);
    ASSERT_TRUE(costs);
    for (size_t i = 1; i < entry.size(); ++i) {
      EXPECT_EQ((*probe)->cost_around_bodies(entry[i]).time(), (*costs)[entry[i]].time()) << i;
      EXPECT_EQ((*probe)->cost(entry[i]).time(), (*costs)[entry[i]].time()) << i;
    }
    const Picoseconds now = (*probe)->cost_around_bodies(entry[2]).time();
    if (space == 1) {
      EXPECT_LT(now, before);
    }
    before = now;
  }
}

}  // namespace
}  // namespace hlosim
