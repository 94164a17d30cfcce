#include "ops/window.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace hlosim {
namespace {

/// The definitions, position by position.
WindowReach slow_reach(int64_t base, const WindowDimension& window) {
  WindowReach reach;
  const int64_t places = window_places(base, window);
  std::set<int64_t> taps;
  for (int64_t place = 0; place < places; ++place) {
    bool sees_one = false;
    for (int64_t tap = 0; tap < window.size; ++tap) {
      const int64_t at = place * window.stride + tap * window.window_dilation - window.padding_low;
      if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= base) continue;
      sees_one = true;
      taps.insert(tap);
      ++reach.hits;
    }
    reach.places += sees_one;
  }
  reach.taps = static_cast<int64_t>(taps.size());
  return reach;
}

int64_t slow_places(int64_t base, const WindowDimension& window) {
  const int64_t room =
      (base == 0 ? 0 : (base - 1) * window.base_dilation + 1) + window.padding_low + window.padding_high;
  const int64_t extent = (window.size - 1) * window.window_dilation + 1;
  int64_t places = 0;
  for (int64_t at = 0; at + extent <= room; at += window.stride) ++places;
  return places;
}

TEST(Window, AgreesWithItsDefinitionOnEverySmallWindow) {
  int64_t checked = 0;
  for (int64_t base = 0; base <= 5; ++base)
    for (int64_t size = 1; size <= 4; ++size)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t low = -2; low <= 3; ++low)
          for (int64_t high = -2; high <= 3; ++high)
            for (int64_t base_dilation = 1; base_dilation <= 4; ++base_dilation)
              for (int64_t window_dilation = 1; window_dilation <= 3; ++window_dilation) {
                const WindowDimension window{size, stride, low, high, base_dilation, window_dilation, false};
                ASSERT_EQ(window_places(base, window), slow_places(base, window))
                    << base << " size " << size << " stride " << stride << " pad " << low << "_" << high
                    << " dilate " << base_dilation << " " << window_dilation;
                const WindowReach fast = window_reach(base, window), slow = slow_reach(base, window);
                ASSERT_EQ(fast.hits, slow.hits)
                    << base << " size " << size << " stride " << stride << " pad " << low << "_" << high
                    << " dilate " << base_dilation << " " << window_dilation;
                ASSERT_EQ(fast.places, slow.places)
                    << base << " size " << size << " stride " << stride << " pad " << low << "_" << high
                    << " dilate " << base_dilation << " " << window_dilation;
                ASSERT_EQ(fast.taps, slow.hits == 0 ? 0 : slow.taps);
                ++checked;
              }
  EXPECT_EQ(checked, 6 * 4 * 4 * 36 * 4 * 3);
}

TEST(Window, TheEdgesOfAPaddedImageHardlyCount) {
  const WindowReach reach = window_reach(56, {3, 1, 1, 1, 1, 1, false});
  EXPECT_EQ(reach.places, 56);
  EXPECT_EQ(reach.hits, 3 * 56 - 2);
  EXPECT_EQ(reach.depth(), 3);
  EXPECT_FALSE(reach.is_batch());
}

TEST(Window, HolesOfTheBaseDoNotCount) {
  const WindowReach reach = window_reach(14, {4, 1, 2, 2, 2, 1, false});
  EXPECT_EQ(reach.places, 28);
  EXPECT_EQ(reach.depth(), 2);
}

TEST(Window, ABatchDimensionWrittenAsAWindow) {
  // Eight positions, each with a part of the window of its own: size=8 stride=7 lhs_dilate=8.
  const WindowReach reach = window_reach(8, {8, 7, 0, 0, 8, 1, false});
  EXPECT_EQ(reach.places, 8);
  EXPECT_EQ(reach.taps, 8);
  EXPECT_EQ(reach.depth(), 1);
  EXPECT_TRUE(reach.is_batch());
}

TEST(Window, HostileNumbersSaturate) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(window_places(kMost, {1, 1, kMost, kMost, kMost, 1, false}), kMost);
  EXPECT_EQ(window_places(5, {1, 1, kLeast, kLeast, 1, 1, false}), 0);
  EXPECT_EQ(window_places(5, {kMost, 1, 0, 0, 1, kMost, false}), 0);
  EXPECT_EQ(window_places(Shape::kUnbounded, {3, 1, 0, 0, 1, 1, false}), Shape::kUnbounded);
  EXPECT_EQ(window_reach(kMost, {3, 1, 1, 1, 1, 1, false}).hits, kMost);
  EXPECT_EQ(window_reach(kMost, {2, kMost - 1, 1, 1, kMost, kMost, false}).hits, 2);
}

}  // namespace
}  // namespace hlosim
