#include "study/accuracy_steps.h"

#include <gtest/gtest.h>

#include "study/accuracy_limits.h"

namespace hlosim {
namespace {

MeasuredCase part(std::string id, std::string kind, double time_us, double occurrences) {
  MeasuredCase one;
  one.id = std::move(id), one.kind = std::move(kind);
  one.device = "v5p", one.family = "step";
  one.time_us = time_us, one.occurrences = occurrences;
  return one;
}

Accuracy example() {
  std::vector<MeasuredCase> cases = {part("a", "x", 10, 100), part("b", "x", 100, 1), part("c", "y", 50, 10),
                                     part("d", "y", 1000, 10), part("e", "y", 1, 1)};
  cases[3].tier = "C";
  return make_accuracy(std::move(cases),
                       {{11, "", 1}, {50, "", 1}, {40, "", 1}, {1, "", 1}, {std::nullopt, "no", 1}});
}

TEST(StepSums, EachCaseAsOftenAsItRan) {
  const std::vector<StepSum> steps = step_sums(example());
  ASSERT_EQ(steps.size(), 1u);
  const StepSum& step = steps[0];
  EXPECT_EQ(step.all.cases, 3u);
  EXPECT_EQ(step.left_out, 2u);  // what others decide, and what has no prediction
  EXPECT_DOUBLE_EQ(step.all.measured_us, 1000 + 100 + 500);
  EXPECT_DOUBLE_EQ(step.all.predicted_us, 1100 + 50 + 400);
  EXPECT_DOUBLE_EQ(step.error(), (100.0 + 50 + 100) / 1600);
  EXPECT_DOUBLE_EQ(step.ratio(), 1550.0 / 1600);
  ASSERT_EQ(step.kinds.size(), 2u);
  EXPECT_EQ(step.kinds[0].name, "x");  // 150 off
  EXPECT_EQ(step.cases[2].name, "b");
}

TEST(StepSums, AWaterfallEndsAtTheSum) {
  const std::vector<StepSum> steps = step_sums(example());
  double at = steps[0].all.measured_us;
  for (const StepPart& kind : steps[0].kinds) at += kind.change();
  EXPECT_DOUBLE_EQ(at, steps[0].all.predicted_us);
  EXPECT_NE(
      steps_text(steps, 3).find("error by time 15.6 %, sum predicted / measured 0.969; 2 cases left out"),
      std::string::npos);
}

AccuracyLimits limits_or_fail(const std::string& text) {
  DiagnosticList problems;
  const auto limits = read_accuracy_limits(std::make_shared<const SourceFile>("limits.yaml", text), problems);
  EXPECT_TRUE(limits) << (problems.items().empty() ? "" : render(problems.items()[0]));
  return limits ? *limits : AccuracyLimits{};
}

TEST(AccuracyLimits, WhatIsBeyondThemIsNamed) {
  const Accuracy accuracy = example();
  const std::vector<StepSum> steps = step_sums(accuracy);
  const auto broken = [&](const std::string& text) {
    return broken_limits(limits_or_fail(text), accuracy, steps, {});
  };
  EXPECT_TRUE(broken("steps: {step v5p: {error: 16 %, sum: 4 %}, other v4: {error: 0}}\n").empty());
  const auto both = broken("steps: {step v5p: {error: 0.15, sum: 3 %}}\n");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], "step v5p: error by time 15.6 %, the limit is 15.0 %");
  EXPECT_EQ(broken("rows: {v5p x single native: {median: 29 %, p90: 47 %}}\n").size(), 1u);  // 10 and 50 %
}

TEST(AccuracyLimits, WrongOnesAreErrorsAtTheirPlace) {
  constexpr std::pair<const char*, const char*> kWrong[] = {
      {"rows: 3\n", "\"rows\" is an object, not \"3\""},
      {"steps: {a: {median: 3 %}}\n", "unknown key \"median\" of \"a\": error or sum"},
      {"rows: {a: {median: few}}\n", "\"median\" is a share such as 4 % or 0.04, not \"few\""},
      {"kinds: {}\n", "unknown key \"kinds\" of limits: rows, steps or ladders"},
      {"[rows]\n", "expected the keys of limits: rows, steps or ladders, found an array"}};
  for (const auto& [text, message] : kWrong) {
    DiagnosticList problems;
    EXPECT_FALSE(read_accuracy_limits(std::make_shared<const SourceFile>("l", text), problems)) << text;
    ASSERT_EQ(problems.error_count(), 1u) << text;
    EXPECT_EQ(problems.items()[0].message, message);
  }
}

}  // namespace
}  // namespace hlosim
