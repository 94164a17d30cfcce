// Ranges of times: what errors of kinds of work make of a program of several.
#include "estimate/time_range.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

constexpr MeasuredError kTable[] = {
    {"v4", CostCategory::kMatmul, 100, 0.9, 1.2},
    {"all", CostCategory::kMatmul, 300, 0.5, 2.0},
    {"all", CostCategory::kVector, 300, 0.8, 1.5},
};

TimeByKind kinds(int64_t matmul, int64_t vector, int64_t host = 0) {
  TimeByKind made{};
  made[static_cast<size_t>(CostCategory::kMatmul)] = Picoseconds(matmul);
  made[static_cast<size_t>(CostCategory::kVector)] = Picoseconds(vector);
  made[static_cast<size_t>(CostCategory::kHost)] = Picoseconds(host);
  return made;
}

TEST(TimeRange, OneKindHasItsQuantiles) {
  const std::optional<TimeRange> range = time_range(kTable, "v4", kinds(1000, 0));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low.count(), 900);
  EXPECT_EQ(range->high.count(), 1200);
}

TEST(TimeRange, KindsAddUpAndTheOnesNotMeasuredThereAreThoseOfAll) {
  const std::optional<TimeRange> range = time_range(kTable, "v4", kinds(1000, 1000, 500));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low.count(), 900 + 800 + 500);
  EXPECT_EQ(range->high.count(), 1200 + 1500 + 500);
}

TEST(TimeRange, GenerationsWithoutMeasurementsAreLikeAll) {
  const std::optional<TimeRange> range = time_range(kTable, "v5e", kinds(1000, 0));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->high.count(), 2000);
}

TEST(TimeRange, NoneForOtherDevicesNorForNoTime) {
  EXPECT_FALSE(time_range(kTable, "mine", kinds(1000, 0)));
  EXPECT_FALSE(time_range(kTable, "v4", kinds(0, 0)));
}

TEST(TimeRange, HoldsTheTimeItself) {
  constexpr MeasuredError kBiased[] = {{"v4", CostCategory::kMatmul, 100, 1.1, 1.3},
                                       {"v4", CostCategory::kVector, 100, 0.5, 0.9}};
  const std::optional<TimeRange> range = time_range(kBiased, "v4", kinds(1000, 1000));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low.count(), 1500);
  EXPECT_EQ(range->high.count(), 2300);
}

TEST(TimeRange, WaitingIsWhatIsWaitedFor) {
  Totals totals;
  totals.idle = Picoseconds(100);
  totals.exposed_collectives = Picoseconds(70);
  const TimeByKind made = kinds_of(totals);
  EXPECT_EQ(made[static_cast<size_t>(CostCategory::kCollective)].count(), 70);
  EXPECT_EQ(made[static_cast<size_t>(CostCategory::kData)].count(), 30);
}

}  // namespace
}  // namespace hlosim
