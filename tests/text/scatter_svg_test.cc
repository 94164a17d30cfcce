#include "text/scatter_svg.h"

#include <gmock/gmock.h>

namespace hlosim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ScatterPlot two_points() {
  ScatterPlot plot;
  plot.x.name = "a < b", plot.y.name = "y";
  plot.marks = {{.x = 1, .y = 2, .front = true, .title = "first & best"}, {.x = 2, .y = 1}};
  return plot;
}

TEST(ScatterSvg, MarksFrontAndNames) {
  const std::string svg = scatter_svg(two_points());
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("<title>first &amp; best</title>"));
  EXPECT_THAT(svg, HasSubstr("class=\"front\""));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"line\"")));
}

/// In order: a path from the first mark to the second one, right and down.
TEST(ScatterSvg, LineInOrder) {
  ScatterPlot plot = two_points();
  plot.line = ScatterLine::kInOrder;
  EXPECT_THAT(scatter_svg(plot), HasSubstr("d=\"M102.0 24.0L718.0 444.0\""));
  std::swap(plot.marks[0], plot.marks[1]);
  EXPECT_THAT(scatter_svg(plot), HasSubstr("d=\"M718.0 444.0L102.0 24.0\""));
  plot.line = ScatterLine::kLeast;
  EXPECT_THAT(scatter_svg(plot), HasSubstr("d=\"M102.0 24.0L718.0 444.0\""));
}

TEST(ScatterSvg, NothingToDraw) { EXPECT_THAT(scatter_svg({}), HasSubstr("</svg>\n")); }

}  // namespace
}  // namespace hlosim
