#include "measured/log_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measured/calibrate.h"

namespace hlosim {
namespace {

/// Times of a made-up device: case i moves `bytes` at a rate, computes `work`, and starts; constants 0 to 2,
/// and one that moves nothing.
std::vector<std::optional<double>> times(std::span<const double> factors) {
  std::vector<std::optional<double>> times;
  for (int i = 0; i < 40; ++i) {
    const double bytes = 1 + i % 7 * 3, work = 0.5 + i % 5 * 4;
    times.push_back(0.3 * std::exp(factors[2]) +
                    std::max(bytes / std::exp(factors[0]), work * std::exp(factors[1])));
  }
  return times;
}

std::vector<double> measured(std::vector<double> truth, double noise) {
  std::vector<double> all;
  int i = 0;
  for (const auto& time : times(truth)) all.push_back(*time * std::exp(noise * std::sin(12.9898 * ++i)));
  return all;
}

std::vector<CalibrationCase> cases_of(const std::vector<double>& measured_times) {
  std::vector<CalibrationCase> cases;
  for (size_t i = 0; i < measured_times.size(); ++i)
    cases.push_back({"case " + std::to_string(i), measured_times[i]});
  return cases;
}

const std::vector<Constant> kConstants = {
    {"rate", 100, "GB/s", SourceClass::kGuess, ""},
    {"slots", 4, "", SourceClass::kGuess, ""},
    {"start", 300, "ns", SourceClass::kGuess, ""},
    {"idle", 7, "ns", SourceClass::kGuess, ""},
};

TEST(LogFit, FindsWhatMadeTheTimes) {
  const std::vector<double> truth = {0.3, -0.4, 0.7, 0};
  const LogFit fit(measured(truth, 0), times);
  const FitResult found = fit.solve({true, true, true, false}, {0, 0, 0, 0});
  for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(found.factors[j], truth[j], 1e-3) << j;
}

TEST(LogFit, OutliersLoseTheirWeight) {
  std::vector<double> all = measured({0.3, 0, 0, 0}, 0.005);
  for (size_t i = 0; i < all.size(); i += 10) all[i] *= 3;
  const FitResult found = LogFit(all, times).solve({true, false, false, false}, {0, 0, 0, 0});
  EXPECT_NEAR(found.factors[0], 0.3, 0.02);
}

TEST(LeastSquares, SaysWhenColumnsAreTheSame) {
  const std::vector<double> b = {1, 2, 3}, weights = {1, 1, 1};
  const std::vector<std::vector<double>> twins = {{1, 2, 3}, {2, 4, 6}};
  EXPECT_FALSE(least_squares(twins, b, weights));
  const std::vector<std::vector<double>> two = {{1, 0, 0}, {0, 1, 1}};
  const auto x = least_squares(two, b, weights);
  ASSERT_TRUE(x);
  EXPECT_NEAR((*x)[0], 1, 1e-12);
  EXPECT_NEAR((*x)[1], 2.5, 1e-12);
}

TEST(Calibrate, TakesTheConstantsThatTheDataDetermine) {
  const auto found = calibrate(kConstants, cases_of(measured({0.3, -0.4, 0.7, 0}, 0.01)), times, {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->fitted.size(), 3u);
  EXPECT_NEAR(found->fitted[0].factor, std::exp(0.3), 0.02);
  EXPECT_NEAR(found->fitted[1].factor, std::exp(-0.4), 0.02);
  EXPECT_NEAR(found->fitted[2].factor, std::exp(0.7), 0.06);
  ASSERT_EQ(found->undetermined.size(), 1u);
  EXPECT_EQ(found->undetermined[0].reason, "moves no case");
  EXPECT_GT(found->before.median, 0.1);
  EXPECT_LT(found->after.median, 0.012);
  EXPECT_LT(found->cross_validated.median, 0.015);
}

TEST(Calibrate, LeavesWhatIsRight) {
  const auto found = calibrate(kConstants, cases_of(measured({0, 0, 0, 0}, 0.01)), times, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->fitted.empty());
  EXPECT_EQ(found->undetermined.size(), 4u);
}

TEST(Calibrate, FitsTheConstantsThatAreNamed) {
  const auto found =
      calibrate(kConstants, cases_of(measured({0.3, 0, 0, 0}, 0.01)), times, {{"rate", "idle"}});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->fitted.size(), 1u);
  EXPECT_EQ(found->fitted[0].constant.path, "rate");
  ASSERT_EQ(found->undetermined.size(), 1u);
  const auto unknown = calibrate(kConstants, cases_of(measured({0, 0, 0, 0}, 0)), times, {{"rte"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().hint, "did you mean \"rate\"?");
}

TEST(Calibrate, NeverTakesMoreConstantsThanTheDataCarry) {
  std::vector<CalibrationCase> few = cases_of(measured({0.3, -0.4, 0.7, 0}, 0));
  few.resize(5);
  const LogPredictor first = [](std::span<const double> factors) {
    auto all = times(factors);
    all.resize(5);
    return all;
  };
  const auto found = calibrate(kConstants, few, first, {});
  ASSERT_TRUE(found);
  EXPECT_LE(found->fitted.size(), 1u);
  few.resize(2);
  EXPECT_FALSE(calibrate(kConstants, few,
                         [&](std::span<const double> f) {
                           auto all = first(f);
                           all.resize(2);
                           return all;
                         },
                         {}));
}

TEST(Constant, IsWrittenAsDeviceFilesTakeIt) {
  const Constant time{"start", 1.5, "ns", SourceClass::kGuess, ""},
      rate{"rate", 819, "GB/s", SourceClass::kGuess, ""};
  EXPECT_EQ(time.text(), "1.5 ns");
  EXPECT_EQ(time.text(1.00033), "1.501 ns") << "whole picoseconds";
  EXPECT_EQ(rate.text(1.0123456), "829.11 GB/s");
  EXPECT_EQ((Constant{"slots", 4, "", SourceClass::kGuess, ""}.text(1.5)), "6");
}

TEST(Calibrate, WritesADeviceFile) {
  const auto found = calibrate(kConstants, cases_of(measured({0.3, 0, 0, 0}, 0)), times, {{"rate"}});
  ASSERT_TRUE(found);
  const std::string yaml = to_yaml(*found, {"v5e", "TPU v5e", "cases.json", "hlosim calibrate cases.json"});
  EXPECT_NE(yaml.find("extends: v5e\nname: \"TPU v5e, calibrated\"\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("rate: {value: 134.99 GB/s, source: \"calibrated: "), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("of 40 cases of cases.json; was 100 GB/s;"), std::string::npos) << yaml;
}

}  // namespace
}  // namespace hlosim
