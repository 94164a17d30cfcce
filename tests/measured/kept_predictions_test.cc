#include "measured/prediction_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace hlosim {
namespace {

using testing::ElementsAre;

/// Three parts of one, two and one cases over twenty constants: the first depends on constant 3, the second
/// on 4 and on the larger of 10 and 11, the third has no times.
class MadeUp {
 public:
  PartedPredictor predictor() {
    return {{0, 1, 1, 2}, [this](std::span<const double> factors, std::span<const size_t> which) {
              std::vector<std::optional<double>> times;
              for (const size_t part : which) {
                ++simulated_;
                const bool refused = factors[7] > 0.3;
                const auto give = [&](double time) {
                  times.push_back(refused ? std::nullopt : std::optional(time));
                };
                if (part == 0) give(std::exp(factors[3]));
                if (part == 1) give(2 * std::exp(factors[4]) + factors[13] * 0);
                if (part == 1) give(std::max(std::exp(factors[10]), 0.9 * std::exp(factors[11])));
                if (part == 2) times.push_back(std::nullopt);
              }
              return times;
            }};
  }
  int taken() { return std::exchange(simulated_, 0); }

 private:
  int simulated_ = 0;
};

std::vector<double> factors(std::initializer_list<std::pair<size_t, double>> values) {
  std::vector<double> all(20);
  for (const auto& [constant, value] : values) all[constant] = value;
  return all;
}

TEST(PredictionCache, SimulatesOnlyWhatDepends) {
  MadeUp device;
  PredictionCache kept(device.predictor(), 20);
  kept.learn(factors({}));
  EXPECT_LT(device.taken(), 3 * 40) << "fewer than each constant of each part to both sides";
  EXPECT_THAT(kept.times(factors({})), ElementsAre(1.0, 2.0, 1.0, std::nullopt));
  EXPECT_EQ(device.taken(), 0);
  EXPECT_THAT(kept.times(factors({{3, 0.1}})), ElementsAre(std::exp(0.1), 2.0, 1.0, std::nullopt));
  EXPECT_EQ(device.taken(), 1);
  EXPECT_THAT(kept.times(factors({{13, 0.1}, {0, 0.2}, {19, -0.3}})),
              ElementsAre(1.0, 2.0, 1.0, std::nullopt));
  EXPECT_EQ(device.taken(), 0) << "nobody depends on these";
  // What is hidden now but not when it is a little larger.
  EXPECT_THAT(kept.times(factors({{11, 0.2}})), ElementsAre(1.0, 2.0, 0.9 * std::exp(0.2), std::nullopt));
  EXPECT_EQ(device.taken(), 1);
  EXPECT_THAT(kept.times(factors({{11, 0.2}, {3, 0.1}})),
              ElementsAre(std::exp(0.1), 2.0, 0.9 * std::exp(0.2), std::nullopt));
  EXPECT_EQ(device.taken(), 0) << "both were asked for before, one by one";
}

TEST(PredictionCache, LearnsAnewElsewhere) {
  MadeUp device;
  PredictionCache kept(device.predictor(), 20);
  kept.learn(factors({{11, -3}}));
  kept.times(factors({{11, -3}}));
  kept.learn(factors({{10, -2}}));
  device.taken();
  EXPECT_THAT(kept.times(factors({{10, -2}, {11, 0.05}}))[2], std::optional(0.9 * std::exp(0.05)));
  EXPECT_EQ(device.taken(), 1);
}

TEST(PredictionCache, OneThatIsRefusedIsTriedInSmallSteps) {
  MadeUp device;
  PredictionCache kept(device.predictor(), 20);
  kept.learn(factors({}));
  device.taken();
  kept.times(factors({{7, 0.1}}));
  EXPECT_EQ(device.taken(), 0) << "a little of it does nothing";
}

}  // namespace
}  // namespace hlosim
