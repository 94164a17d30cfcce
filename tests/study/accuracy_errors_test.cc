// Errors of measured cases as quantiles, and how many cases lie in ranges that others gave.
#include "study/accuracy_errors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hlosim {
namespace {

/// `count` cases of one kind of work, measured 1 + i / count times as long as simulated.
void add_cases(Accuracy& accuracy, const std::string& generation, CostCategory kind, int count) {
  for (int i = 0; i < count; ++i) {
    MeasuredCase one;
    one.id = fmt::format("{}_{}_{}", generation, static_cast<int>(kind), i);
    one.time_us = 10 * (1 + static_cast<double>(i) / count);
    Prediction predicted;
    predicted.us = 10;
    predicted.generation = generation;
    predicted.kinds = TimeByKind{};
    (*predicted.kinds)[static_cast<size_t>(kind)] = Picoseconds(10'000'000);
    accuracy.cases.push_back(one);
    accuracy.predictions.push_back(predicted);
  }
}

TEST(AccuracyErrors, QuantilesByGenerationAndKind) {
  Accuracy accuracy;
  add_cases(accuracy, "v4", CostCategory::kMatmul, 1000);
  add_cases(accuracy, "v5p", CostCategory::kVector, 12);  // too few for a row of the generation
  const ErrorStudy study = study_errors(accuracy);
  ASSERT_EQ(study.errors.size(), 3u);
  const auto row = [&](std::string_view generation, CostCategory kind) {
    for (const MeasuredError& error : study.errors)
      if (error.generation == generation && error.category == kind) return error;
    ADD_FAILURE() << "no row of " << generation;
    return MeasuredError{};
  };
  EXPECT_NEAR(row("v4", CostCategory::kMatmul).low, 1.1, 0.002);
  EXPECT_NEAR(row("v4", CostCategory::kMatmul).high, 1.9, 0.002);
  EXPECT_EQ(row("all", CostCategory::kVector).cases, 12);
}

TEST(AccuracyErrors, RangesHoldAsManyCasesAsTheySay) {
  Accuracy accuracy;
  add_cases(accuracy, "v4", CostCategory::kMatmul, 1000);
  const ErrorStudy study = study_errors(accuracy);
  ASSERT_EQ(study.held.size(), 2u);
  for (const HeldRanges& held : study.held) {
    EXPECT_EQ(held.cases, 1000u);
    // The lower end is the simulated time itself where all measured ones are longer.
    EXPECT_NEAR(held.share, 0.9, 0.03);
  }
  EXPECT_NE(to_text(study).find("HLOSIM_MEASURED_ERROR(v4, kMatmul, 1000, 1.1"), std::string::npos);
}

}  // namespace
}  // namespace hlosim
