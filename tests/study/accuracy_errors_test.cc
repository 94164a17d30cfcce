// Errors of measured cases as quantiles, and how many cases lie in ranges that others gave.
#include "study/accuracy_errors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "published/published_run.h"
#include "support/folders.h"

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

const MeasuredError* row_of(const ErrorStudy& study, std::string_view generation, CostCategory kind) {
  for (const MeasuredError& error : study.errors)
    if (error.generation == generation && error.category == kind) return &error;
  return nullptr;
}

const HeldRanges* held_of(const ErrorStudy& study, std::string_view generation,
                          std::optional<CostCategory> kind = {}) {
  for (const HeldRanges& held : study.held)
    if (held.generation == generation && held.kind == kind) return &held;
  return nullptr;
}

TEST(AccuracyErrors, RowsOfGenerationsWithEnoughCasesAndOfAll) {
  Accuracy accuracy;
  add_cases(accuracy, "v4", CostCategory::kMatmul, 1000);
  add_cases(accuracy, "v5p", CostCategory::kVector, 12);  // too few for a row of the generation
  const ErrorStudy study = study_errors(accuracy);
  ASSERT_EQ(study.errors.size(), 3u);
  const MeasuredError* const row = row_of(study, "v4", CostCategory::kMatmul);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->cases, 1000);
  // A range begins at the simulated time where all measured ones are longer, and ends where 80 % of them do.
  EXPECT_EQ(row->low, 1);
  EXPECT_NEAR(row->high, 1.8, 0.005);
  ASSERT_TRUE(row_of(study, "all", CostCategory::kVector));
  EXPECT_EQ(row_of(study, "all", CostCategory::kVector)->cases, 12);
}

TEST(AccuracyErrors, FewCasesMakeWiderRangesThanMany) {
  Accuracy few, many;
  add_cases(few, "v4", CostCategory::kMatmul, 20);
  add_cases(many, "v4", CostCategory::kMatmul, 2000);
  const ErrorStudy of_few = study_errors(few), of_many = study_errors(many);
  // Of 20 cases the 17th in place of the 16th: one more is to lie below it in 80 % of all draws.
  EXPECT_NEAR(row_of(of_few, "v4", CostCategory::kMatmul)->high, 1.8, 1e-6);
  EXPECT_NEAR(row_of(of_many, "v4", CostCategory::kMatmul)->high, 1.8, 1e-3);
  Accuracy even;
  add_cases(even, "v4", CostCategory::kMatmul, 21);
  EXPECT_NEAR(row_of(study_errors(even), "v4", CostCategory::kMatmul)->high, 1 + 17.0 / 21, 1e-6);
}

TEST(AccuracyErrors, RangesHoldAsManyCasesAsTheySay) {
  Accuracy accuracy;
  add_cases(accuracy, "v4", CostCategory::kMatmul, 1000);
  const ErrorStudy study = study_errors(accuracy);
  for (const std::string_view generation : {"v4", "all"}) {
    const HeldRanges* const held = held_of(study, generation);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->cases, 1000u);
    EXPECT_NEAR(held->share, 0.8, 0.01);
  }
  EXPECT_NE(to_text(study).find("# v4.yaml\nerrors:\n  matmul: {cases: 1000, low: 1.000, high: 1.8"),
            std::string::npos);
  EXPECT_NE(to_text(study).find("# v4, matmul: "), std::string::npos);
}

/// Numbers from 0 to 1, the same every time.
class Draw {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  uint64_t state_ = 17;
};

/// Cases of two kinds of work in all proportions, each kind off by its own, which is as much for other
/// generations as a factor says.
void add_mixed(Accuracy& accuracy, const std::string& generation, double factor, int count, Draw& draw) {
  for (int i = 0; i < count; ++i) {
    const double matmul = 10e6 * draw(), vector = 10e6 * draw();
    MeasuredCase one;
    one.id = fmt::format("{}_mixed_{}", generation, i);
    one.time_us =
        (matmul * (1 + factor * (draw() - 0.3)) + vector * (1 + factor * (0.2 * draw() - 0.15))) / 1e6;
    Prediction predicted;
    predicted.us = (matmul + vector) / 1e6;
    predicted.generation = generation;
    predicted.kinds = TimeByKind{};
    (*predicted.kinds)[static_cast<size_t>(CostCategory::kMatmul)] = Picoseconds(std::llround(matmul));
    (*predicted.kinds)[static_cast<size_t>(CostCategory::kVector)] = Picoseconds(std::llround(vector));
    accuracy.cases.push_back(one);
    accuracy.predictions.push_back(predicted);
  }
}

TEST(AccuracyErrors, RangesOfProgramsOfSeveralKindsHoldOnEveryGeneration) {
  Accuracy accuracy;
  Draw draw;
  add_mixed(accuracy, "v4", 0.5, 1000, draw);
  add_mixed(accuracy, "v5p", 0.1, 200, draw);
  add_mixed(accuracy, "v6e", 1, 80, draw);
  const ErrorStudy study = study_errors(accuracy);
  for (const std::string_view generation : {"all", "v4", "v5p", "v6e"}) {
    const HeldRanges* const held = held_of(study, generation);
    ASSERT_TRUE(held) << generation;
    EXPECT_GE(held->share, 0.75) << generation;
    EXPECT_LE(held->share, 0.85) << generation;
  }
  // Every generation has its own.
  const auto width = [&](std::string_view generation) {
    const MeasuredError* const row = row_of(study, generation, CostCategory::kMatmul);
    return row ? row->high - row->low : 0;
  };
  EXPECT_GT(width("v6e"), 1.5 * width("v4"));
  EXPECT_GT(width("v4"), 3 * width("v5p"));
  EXPECT_GT(width("v5p"), 0);
}

TEST(AccuracyErrors, AGenerationOfManyCasesIsNotAll) {
  Accuracy accuracy;
  Draw draw;
  add_mixed(accuracy, "v4", 0.1, 3000, draw);
  for (const char* const other : {"v5e", "v5p", "v6e"}) add_mixed(accuracy, other, 1, 60, draw);
  const ErrorStudy study = study_errors(accuracy);
  const MeasuredError* const all = row_of(study, "all", CostCategory::kMatmul);
  const MeasuredError* const v4 = row_of(study, "v4", CostCategory::kMatmul);
  ASSERT_TRUE(all && v4);
  EXPECT_GT(all->high - all->low, 4 * (v4->high - v4->low));
}

/// `count` runs of steps from one source, measured `low` to `high` times as long as simulated.
void add_steps(Accuracy& accuracy, const std::string& source, int count, double low, double high) {
  auto run = std::make_shared<PublishedRun>();
  run->source = source;
  for (int i = 0; i < count; ++i) {
    MeasuredCase one;
    one.id = fmt::format("{}_{}", source, i);
    one.time_us = 10 * (low + (high - low) * (i + 0.5) / count);
    one.run = run;
    Prediction predicted;
    predicted.us = 10;
    predicted.generation = "v6e";
    accuracy.cases.push_back(one);
    accuracy.predictions.push_back(predicted);
  }
}

const HeldSteps* held_of(const StepErrors& steps, std::string_view name) {
  for (const HeldSteps& held : steps.held)
    if (held.name == name) return &held;
  return nullptr;
}

TEST(AccuracyErrors, StepsHaveOneRangeInWhichEachRunCountsTheSame) {
  Accuracy accuracy;
  add_cases(accuracy, "v4", CostCategory::kMatmul, 100);
  EXPECT_FALSE(study_errors(accuracy).steps);
  add_steps(accuracy, "many", 300, 0.99, 1.01);
  for (const char* const source : {"a", "b", "c"}) add_steps(accuracy, source, 20, 0.8, 1.4);
  const ErrorStudy study = study_errors(accuracy);
  ASSERT_TRUE(study.steps);
  EXPECT_EQ(study.steps->error.cases, 360);
  // 83 % lie from 0.99 to 1.01; were the sources weighed alike, a quarter would.
  EXPECT_GT(study.steps->error.low, 0.99);
  EXPECT_LT(study.steps->error.high, 1.1);
  EXPECT_NE(to_text(study).find("# tpu.yaml\nerrors:\n  step: {cases: 360, low: 0.99"), std::string::npos);
}

TEST(AccuracyErrors, ASourceIsHeldAgainstTheRangeOfAllOthers) {
  Accuracy accuracy;
  for (const char* const source : {"a", "b", "c"}) add_steps(accuracy, source, 20, 0.9, 1.1);
  add_steps(accuracy, "far", 20, 1.9, 2.1);
  const ErrorStudy study = study_errors(accuracy);
  ASSERT_TRUE(study.steps);
  EXPECT_EQ(held_of(*study.steps, "far")->held, 0u);
  EXPECT_EQ(held_of(*study.steps, "far")->runs, 20u);
  EXPECT_EQ(held_of(*study.steps, "a")->held,
            18u);  // below 1.1 all of them, as the others' range has far ones
  EXPECT_EQ(held_of(*study.steps, "all")->runs, 80u);
}

/// All published measurements at hand.
TEST(AccuracyErrors, RangesHoldOnEveryGenerationThatWasMeasured) {
  const std::string_view files[] = {"measured/cases.json",
                                    "measured/kernels/cases.json",
                                    "measured/profiles/shown/gemm_v5e_v6e.json",
                                    "measured/profiles/shown/small.json",
                                    "measured/profiles/shown/v5p_maxtext_step.json",
                                    "measured/profiles/shown/v7x_vllm_step.json"};
  Accuracy accuracy;
  for (const std::string_view file : files) {
    const std::string text = test::shared_text(std::string(file));
    if (text.empty()) GTEST_SKIP() << test::no_shared("measured");
    DiagnosticList problems;
    const auto source = std::make_shared<const SourceFile>(std::string(file), text);
    const std::vector<MeasuredCase> cases = read_measured_cases(source, problems);
    ASSERT_FALSE(problems.has_errors()) << file;
    accuracy.cases.insert(accuracy.cases.end(), cases.begin(), cases.end());
  }
  accuracy.predictions = predict(accuracy.cases, "cases.json", {});
  const ErrorStudy study = study_errors(accuracy);
  int generations = 0;
  for (const HeldRanges& held : study.held) {
    if (held.kind || held.cases < 30) continue;
    ++generations;
    EXPECT_GE(held.share, 0.75) << held.generation;
    EXPECT_LE(held.share, 0.85) << held.generation;
  }
  EXPECT_EQ(generations, 6);  // all, v4, v5e, v5p, v6e, v7x
}

}  // namespace
}  // namespace hlosim
