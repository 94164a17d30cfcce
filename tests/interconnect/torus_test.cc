#include "interconnect/torus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace hlosim {
namespace {

constexpr double kLink = 1e9;

TorusAxis ring(int64_t length, int64_t axis = 0) { return {axis, length, true}; }
TorusAxis line(int64_t length, int64_t axis = 0) { return {axis, length, false}; }

/// Seconds until every chip of one axis has all chunks, by sending whole chunks over links step by step: each
/// chip passes on what it got from one side to the other. A line passes on both ways at the same time.
double step_by_step(int64_t n, bool wraps, double bytes) {
  const double chunk = bytes / static_cast<double>(n);
  if (!wraps) {
    // The link in the middle of everything: n - 1 chunks cross the last link one way.
    return static_cast<double>(n - 1) * chunk / kLink;
  }
  // Both halves of each chunk travel in opposite directions, n - 1 steps each.
  std::vector<std::vector<int>> right(static_cast<size_t>(n), std::vector<int>(static_cast<size_t>(n)));
  for (size_t i = 0; i < right.size(); ++i) right[i][i] = 1;
  double seconds = 0;
  while (std::any_of(right.begin(), right.end(),
                     [&](const auto& row) { return std::accumulate(row.begin(), row.end(), 0) < n; })) {
    auto next = right;
    for (size_t i = 0; i < right.size(); ++i)
      for (size_t k = 0; k < right.size(); ++k) next[(i + 1) % right.size()][k] |= right[i][k];
    right = next;
    seconds += chunk / 2 / kLink;
  }
  return seconds;
}

TEST(Torus, OneAxisIsWhatStepsTake) {
  for (int64_t n = 2; n <= 16; ++n) {
    const double bytes = 1e6 * static_cast<double>(n);
    const TorusAxis with[] = {ring(n)}, without[] = {line(n)};
    EXPECT_NEAR(gather_seconds(with, bytes, kLink), step_by_step(n, true, bytes), 1e-12) << n;
    EXPECT_NEAR(gather_seconds(without, bytes, kLink), step_by_step(n, false, bytes), 1e-12) << n;
  }
}

TEST(Torus, AxesInTurnUseOneAfterTheOther) {
  // On lines of two, all that comes in comes over one link at a time.
  const TorusAxis lines[] = {line(2), line(2, 1)}, mixed[] = {line(2), line(4, 1)};
  EXPECT_NEAR(gather_seconds_in_turn(lines, 4e9, kLink), 3, 1e-9);
  EXPECT_NEAR(gather_seconds_in_turn(mixed, 8e9, kLink), 7, 1e-9);
  EXPECT_NEAR(gather_seconds(lines, 4e9, kLink), 1.5, 1e-9);
  // Rings: both ways, whatever their order.
  const TorusAxis rings[] = {ring(4), ring(8, 1)}, one[] = {ring(16)};
  EXPECT_NEAR(gather_seconds_in_turn(rings, 32e9, kLink), 15.5, 1e-9);
  EXPECT_EQ(gather_seconds_in_turn(one, 16e9, kLink), gather_seconds(one, 16e9, kLink));
}

TEST(Torus, SeveralAxesLieBetweenTheirBounds) {
  for (const auto& lengths :
       std::vector<std::vector<int64_t>>{{4, 4}, {4, 8}, {2, 16}, {4, 4, 4}, {2, 4, 8}, {3, 5}})
    for (int wraps = 0; wraps < 8; ++wraps) {
      std::vector<TorusAxis> axes;
      double chips = 1, capacity = 0;
      for (size_t i = 0; i < lengths.size(); ++i) {
        axes.push_back({static_cast<int64_t>(i), lengths[i], ((wraps >> i) & 1) != 0});
        chips *= static_cast<double>(lengths[i]);
        capacity += axes.back().capacity(kLink);
      }
      const double bytes = 1e8;
      const double seconds = gather_seconds(axes, bytes, kLink);
      double one_by_one = 0, part = bytes / chips;
      for (const TorusAxis& axis : axes) {
        one_by_one += static_cast<double>(axis.length - 1) * part / axis.capacity(kLink);
        part *= static_cast<double>(axis.length);
      }
      EXPECT_GE(seconds, bytes * (chips - 1) / chips / capacity * (1 - 1e-12));
      EXPECT_LE(seconds, one_by_one * (1 + 1e-12));
    }
  // Equal rings reach the lower bound.
  const TorusAxis cube[] = {ring(4, 0), ring(4, 1), ring(4, 2)};
  EXPECT_NEAR(gather_seconds(cube, 64e6, kLink), 63e6 / (6 * kLink), 1e-12);
}

TEST(Torus, GroupsBetweenEachOtherShareTheLinks) {
  // Two rings of four on eight chips, each on every second one: what one of them sends passes two links,
  // which the other uses as well. Step by step, as neighbours two apart.
  const TorusAxis strided[] = {{0, 4, true, 2}}, alone[] = {ring(4)};
  EXPECT_DOUBLE_EQ(gather_seconds(strided, 1e6, kLink), 2 * gather_seconds(alone, 1e6, kLink));
  EXPECT_EQ(diameter(strided), 2 * diameter(alone));
}

TEST(Torus, AllToAllOfAnEvenRingIsAQuarterOfTheGatherOfAll) {
  const TorusAxis even[] = {ring(8)};
  EXPECT_DOUBLE_EQ(all_to_all_seconds(even, 1e6, kLink), 8e6 / (8 * kLink));
}

}  // namespace
}  // namespace hlosim
