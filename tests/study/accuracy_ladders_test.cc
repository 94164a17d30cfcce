#include "study/accuracy_ladders.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

struct Point {
  int64_t devices = 8, slices = 1, batch = 8;
  double measured = 1, predicted = 1;  // seconds
  std::string program = "p", flag = "0";
};

Accuracy accuracy_of(const std::vector<Point>& points) {
  std::vector<MeasuredCase> cases;
  std::vector<Prediction> predictions;
  for (const Point& point : points) {
    auto run = std::make_shared<PublishedRun>();
    run->program = point.program;
    run->devices = point.devices, run->slices = point.slices, run->options.batch = point.batch;
    run->flags.push_back({"f", point.flag, nullptr, 0, 0});
    MeasuredCase one;
    one.id = "run " + std::to_string(cases.size());
    one.time_us = point.measured * 1e6;
    one.run = std::move(run);
    cases.push_back(std::move(one));
    predictions.emplace_back().us = point.predicted * 1e6;
  }
  return make_accuracy(std::move(cases), std::move(predictions));
}

TEST(Ladders, BatchesHaveASlopePerSequenceAndAFixedPart) {
  // Measured 0.5 + 0.25 x, predicted 0.1 + 0.3 x; another flag, another program: another ladder.
  std::vector<Point> points;
  for (const int64_t x : {4, 1, 2})
    points.push_back({.batch = 8 * x,
                      .measured = 0.5 + 0.25 * static_cast<double>(x),
                      .predicted = 0.1 + 0.3 * static_cast<double>(x)});
  points.push_back({.batch = 24, .measured = 9, .flag = "1"});
  points.push_back({.batch = 24, .measured = 9, .program = "q"});
  const std::vector<Ladder> ladders = run_ladders(accuracy_of(points));
  ASSERT_EQ(ladders.size(), 1u);
  EXPECT_EQ(ladders[0].kind, LadderKind::kBatch);
  EXPECT_EQ(ladders[0].runs, (std::vector<size_t>{1, 2, 0}));
  EXPECT_NEAR(ladders[0].measured.slope, 0.25, 1e-12);
  EXPECT_NEAR(ladders[0].measured.fixed, 0.5, 1e-12);
  EXPECT_NEAR(ladders[0].predicted.slope, 0.3, 1e-12);
  EXPECT_NEAR(ladders[0].predicted.fixed, 0.1, 1e-12);
  const double mean = (0.75 + 1 + 1.5) / 3;
  EXPECT_NEAR(ladders[0].growth_error(), 0.05 * 3 / mean, 1e-12);
  EXPECT_NEAR(ladders[0].fixed_error(), -0.4 / mean, 1e-12);
}

TEST(Ladders, SlicesCountFromTheFirst) {
  const std::vector<Ladder> ladders = run_ladders(
      accuracy_of({{.devices = 8, .slices = 1, .batch = 8, .measured = 2, .predicted = 2},
                   {.devices = 32, .slices = 4, .batch = 32, .measured = 2.6, .predicted = 2.3}}));
  ASSERT_EQ(ladders.size(), 1u);
  EXPECT_EQ(ladders[0].kind, LadderKind::kSlices);
  EXPECT_NEAR(ladders[0].measured.slope, 0.2, 1e-12);
  EXPECT_NEAR(ladders[0].measured.fixed, 2, 1e-12);
}

TEST(Ladders, ChipsAreComparedPerSequence) {
  const std::vector<Ladder> ladders =
      run_ladders(accuracy_of({{.devices = 8, .batch = 8, .measured = 2, .predicted = 2},
                               {.devices = 32, .batch = 64, .measured = 4.4, .predicted = 4}}));
  ASSERT_EQ(ladders.size(), 1u);
  EXPECT_EQ(ladders[0].kind, LadderKind::kChips);
  EXPECT_NEAR(ladders[0].measured.slope, 0.1, 1e-12);  // 2.2 - 2 over two doublings
  EXPECT_NEAR(ladders[0].predicted.slope, 0, 1e-12);
}

TEST(Ladders, RunsWithoutAPredictionAreInNone) {
  Accuracy accuracy = accuracy_of({{.batch = 8}, {.batch = 16}});
  EXPECT_EQ(run_ladders(accuracy).size(), 1u);
  accuracy.predictions[1].us.reset();
  EXPECT_TRUE(run_ladders(accuracy).empty());
  EXPECT_EQ(ladders_text({}), "");
}

}  // namespace
}  // namespace hlosim
