// Ranges of times: what errors of kinds of work make of a program of several.
#include "estimate/time_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hlosim {
namespace {

ErrorsConfig errors_of(ErrorConfig matmul, ErrorConfig vector) {
  ErrorsConfig errors;
  errors.matmul = matmul;
  errors.vector = vector;
  return errors;
}

const ErrorsConfig kErrors = errors_of({100, 0.9, 1.2}, {300, 0.8, 1.5});

TimeByKind kinds(int64_t matmul, int64_t vector, int64_t host = 0) {
  TimeByKind made{};
  made[static_cast<size_t>(CostCategory::kMatmul)] = Picoseconds(matmul);
  made[static_cast<size_t>(CostCategory::kVector)] = Picoseconds(vector);
  made[static_cast<size_t>(CostCategory::kHost)] = Picoseconds(host);
  return made;
}

TEST(TimeRange, OneKindHasItsQuantiles) {
  const std::optional<TimeRange> range = time_range(kErrors, kinds(1000, 0));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low.count(), 900);
  EXPECT_EQ(range->high.count(), 1200);
}

TEST(TimeRange, KindsAddUpAndThoseWithoutErrorsAreExact) {
  const std::optional<TimeRange> range = time_range(kErrors, kinds(1000, 1000, 500));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low.count(), 900 + 800 + 500);
  EXPECT_EQ(range->high.count(), 1200 + 1500 + 500);
}

TEST(TimeRange, NoneWithoutErrorsNorForNoTime) {
  EXPECT_FALSE(time_range(std::nullopt, kinds(1000, 0)));
  EXPECT_FALSE(time_range(kErrors, kinds(0, 0)));
}

TEST(TimeRange, GenerationsWithoutMeasurementsAreLikeAllTogether) {
  DiagnosticList problems;
  const auto device = [&](const char* name) { return load_device(name, {}, {}, problems)->config; };
  const TimeByKind one = kinds(1000, 1000);
  EXPECT_EQ(time_range(device("v2").errors, one)->high, time_range(device("v3").errors, one)->high);
  const auto products = [&](const char* name) { return device(name).errors->matmul->cases; };
  EXPECT_EQ(products("v2"), products("v3"));
  EXPECT_GE(products("v2"),
            products("v4") + products("v5e") + products("v5p") + products("v6e") + products("v7x"));
  // v5e has a row of its own for products alone, and the others of all; v5p, which extends it, its own.
  EXPECT_LT(products("v5e"), products("v5p"));
  EXPECT_EQ(device("v5e").errors->vector->cases, device("v2").errors->vector->cases);
  EXPECT_FALSE(device("unit").errors);
}

TEST(TimeRange, EveryKindOfWorkHasItsKey) {
  ErrorsConfig errors;
  for (size_t i = 0; i < kCostCategoryCount; ++i) {
    const auto category = static_cast<CostCategory>(i);
    EXPECT_FALSE(error_of(errors, category)) << i;  // two kinds with one key would share it
    error_of(errors, category) = ErrorConfig{};
    EXPECT_THAT(std::string(to_text(category)),
                testing::StartsWith(std::string(error_key(category).substr(0, 4))));
  }
}

TEST(TimeRange, HoldsTheTimeItself) {
  const ErrorsConfig biased = errors_of({100, 1.1, 1.3}, {100, 0.5, 0.9});
  const std::optional<TimeRange> range = time_range(biased, kinds(1000, 1000));
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

/// Products of four devices that send: a step.
Simulation step_of(int64_t time) {
  Simulation step;
  step.slice.sides = {2, 2};
  step.totals.makespan = Picoseconds(time);
  step.totals.sent = Bytes(1);
  step.totals.by_category[static_cast<size_t>(CostCategory::kMatmul)] = Picoseconds(time);
  return step;
}

TEST(TimeRange, WholeStepsHaveARangeOfTheirOwn) {
  ErrorsConfig errors = kErrors;
  errors.step = ErrorConfig{105, 0.95, 1.25};
  Simulation step = step_of(1000);
  EXPECT_EQ(time_range(errors, step)->low.count(), 950);
  EXPECT_EQ(time_range(errors, step)->high.count(), 1250);
  EXPECT_EQ(time_range(kErrors, step)->high.count(), 1200);  // a device without one: that of its kinds
  step.totals.sent = Bytes(0);
  EXPECT_EQ(time_range(errors, step)->high.count(), 1200);
  Simulation alone = step_of(1000);
  alone.slice.sides = {1, 1};
  EXPECT_EQ(time_range(errors, alone)->high.count(), 1200);
  EXPECT_FALSE(time_range(errors, step_of(0)));
}

}  // namespace
}  // namespace hlosim
