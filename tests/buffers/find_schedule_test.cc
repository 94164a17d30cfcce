// The order alone is the one of the whole analysis.
#include <gtest/gtest.h>

#include "buffers/buffer_analysis.h"
#include "support/modules.h"
#include "support/random_dataflow.h"

namespace hlosim {
namespace {

TEST(FindSchedule, IsTheOrderOfTheAnalysis) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Module module = test::module_or_fail(test::RandomDataflow(seed).text());
    for (const bool padded : {false, true}) {
      BufferOptions options;
      options.padded = padded;
      const auto analysis = analyse_buffers(module, op_table(), options);
      const Result<FlatSchedule> schedule = find_schedule(module, options);
      ASSERT_EQ(analysis.has_value(), schedule.has_value()) << seed;
      if (analysis) {
        EXPECT_EQ((*analysis)->schedule.steps, schedule->steps) << seed;
      }
    }
  }
}

TEST(FindSchedule, HasTheErrorsOfTheAnalysis) {
  const Module module = test::module_or_fail(R"(
HloModule both
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[8] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(p, z), dimensions={0}, to_apply=f
  ROOT c = f32[] call(s, z), to_apply=f
}
)");
  const auto analysis = analyse_buffers(module, op_table(), {});
  const Result<FlatSchedule> schedule = find_schedule(module, {});
  ASSERT_FALSE(analysis);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(render(analysis.error()), render(schedule.error()));
}

}  // namespace
}  // namespace hlosim
