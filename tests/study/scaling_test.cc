// Plans of growing numbers of chips as a picture.
#include "study/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using testing::HasSubstr;
using testing::Not;

ScalePoint point_of(int64_t chips, double seconds, const std::string& problem = {}) {
  ScalePoint point;
  point.chips = point.devices = chips, point.batch = 64, point.tokens = 64000;
  point.mesh = "fsdp", point.seconds = seconds, point.problem = problem;
  point.peak_flops = 1e12;
  return point;
}

size_t count_of(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST(ScalingPlot, RowsThatFitBesideProportionalGrowth) {
  const DeviceConfig device = test::device_or_fail("unit").config;
  const ScalePlan plan =
      plan_of({point_of(2, 8, "too little memory"), point_of(4, 4), point_of(8, 2.1), point_of(16, 1.9)},
              {.worth = 0.5}, device);
  ASSERT_EQ(plan.last_that_pays, 2u);
  const std::string svg = to_svg(plan);
  EXPECT_THAT(svg, HasSubstr(">proportional<"));
  EXPECT_THAT(svg, HasSubstr("8 chips, fsdp: 30.5k tokens/s"));
  EXPECT_THAT(svg, Not(HasSubstr("2 chips, fsdp")));
  EXPECT_EQ(count_of(svg, "class=\"front\""), 1u);  // on 8 chips
}

TEST(ScalingPlot, NoRingWhereEveryRowPays) {
  const ScalePlan plan =
      plan_of({point_of(4, 4), point_of(8, 2)}, {.worth = 0.5}, test::device_or_fail("unit").config);
  EXPECT_EQ(count_of(to_svg(plan), "class=\"front\""), 0u);
}

TEST(ScalingPlot, NothingFits) {
  const ScalePlan plan =
      plan_of({point_of(4, 4, "too little memory")}, {.worth = 0.5}, test::device_or_fail("unit").config);
  EXPECT_THAT(to_svg(plan), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace hlosim
