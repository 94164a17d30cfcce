#include "study/accuracy.h"

#include <gtest/gtest.h>

#include <functional>

#include "text/read_json.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

SourcePtr source_of(std::string text) {
  return std::make_shared<const SourceFile>("x.json", std::move(text));
}

TEST(ReadJson, ValuesKnowWhereTheyStand) {
  const std::string text = R"({"a": [1, -2.5e3 ,true,null], "b\n": {"c": "d\u00e9"},"e":[[],{}], "f":7})";
  DiagnosticList problems;
  const std::optional<Value> root = parse_json(source_of(text), problems);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->offset, 0u);
  const std::function<void(const Value&)> check = [&](const Value& value) {
    const std::string_view here = std::string_view(text).substr(value.offset);
    if (value.is_map()) {
      EXPECT_EQ(here[0], '{');
    }
    if (value.is_list()) {
      EXPECT_EQ(here[0], '[');
    }
    if (value.is_null()) {
      EXPECT_TRUE(here.starts_with("null"));
    }
    if (value.annotation == kJsonString) {
      EXPECT_EQ(here[0], '"');
    }
    if (value.annotation == kJsonNumber || value.annotation == kJsonBoolean) {
      EXPECT_TRUE(here.starts_with(value.text));
    }
    if (!value.key.empty()) {
      EXPECT_EQ(text[value.key_offset], '"');
    }
    for (const Value& item : value.items) check(item);
  };
  check(*root);
  ASSERT_EQ(root->items.size(), 4u);
  const Value& list = root->items[0];
  ASSERT_EQ(list.items.size(), 4u);
  EXPECT_EQ(list.items[0].text, "1");
  EXPECT_EQ(list.items[1].text, "-2.5e3");
  EXPECT_EQ(list.items[2].text, "true");
  EXPECT_TRUE(list.items[3].is_null());
  EXPECT_EQ(root->items[1].key, "b\n");
  EXPECT_EQ(root->items[1].find("c")->text, "d\u00e9");
  EXPECT_EQ(root->find("f")->text, "7");
}

TEST(ReadJson, EveryBrokenPrefixIsAnErrorWithAPlace) {
  const std::string text = R"([{"a": [1, true], "b": "c"}])";
  for (size_t length = 0; length < text.size(); ++length) {
    DiagnosticList problems;
    EXPECT_FALSE(parse_json(source_of(text.substr(0, length)), problems)) << length;
    ASSERT_EQ(problems.error_count(), 1u) << length;
    EXPECT_LE(problems.items()[0].offset, length);
  }
}

TEST(ErrorSummary, HandComputed) {
  const double predicted[] = {110, 50, 100, 400}, measured[] = {100, 100, 100, 100};
  const ErrorSummary summary = summarize_errors(predicted, measured);
  EXPECT_EQ(summary.count, 4u);
  EXPECT_NEAR(summary.median, 0.3, 1e-12);  // 0, 0.1, 0.5, 3
  EXPECT_NEAR(summary.p90, 0.5 + 0.7 * 2.5, 1e-12);
  EXPECT_NEAR(summary.bias, 0.05, 1e-12);  // -0.5, 0, 0.1, 3
  EXPECT_NEAR(summary.q, 1.55, 1e-12);     // 1, 1.1, 2, 4
  EXPECT_DOUBLE_EQ(summary.worst_q, 4);
}

TEST(Quantile, EndsAndMiddle) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

XlaFlag flag(std::string name, std::string value) {
  return {std::move(name), std::move(value), source_of("flags"), 0, 0};
}

MeasuredCase case_of(std::string id, double time_us) {
  MeasuredCase one;
  one.id = std::move(id);
  one.device = "v4";
  one.kind = "elementwise";
  one.hlo =
      "HloModule m\nENTRY e {\n  a = f32[3000,2000] parameter(0)\n  ROOT b = f32[3000,2000] negate(a)\n}\n";
  one.time_us = time_us;
  return one;
}

TEST(Predict, TheSameForAnyNumberOfThreads) {
  std::vector<MeasuredCase> cases;
  for (int i = 0; i < 40; ++i) {
    cases.push_back(case_of(std::to_string(i), 10));
    if (i % 3 == 0) cases.back().device = "v6e";
    if (i % 5 == 0) cases.back().hlo = "no module";
    cases.back().dispatch_us = i;
  }
  set_thread_count(1);
  const std::vector<Prediction> alone = predict(cases, "x.json", {});
  set_thread_count(4);
  const std::vector<Prediction> together = predict(cases, "x.json", {});
  set_thread_count(0);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(alone[i].us, together[i].us);
    EXPECT_EQ(alone[i].reason, together[i].reason);
    EXPECT_EQ(alone[i].us.has_value(), i % 5 != 0);
    EXPECT_EQ(alone[i].reason.empty(), i % 5 != 0);
  }
  EXPECT_NEAR(*alone[4].us - *alone[1].us, 3, 1e-9);  // dispatch
}

TEST(Predict, OverridesAndFlagsReachTheDevice) {
  MeasuredCase one = case_of("a", 10);
  one.device = "v7x";
  one.hlo =
      "HloModule m\nENTRY e {\n  a = bf16[4096,4096] parameter(0)\n  ROOT b = bf16[4096,4096] dot(a, a), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
  MeasuredCase fast = one;
  fast.xla_flags = {flag("xla_tpu_dvfs_p_state", "7")};
  PredictOptions slow;
  slow.overrides = {{"clock", "0.95 GHz"}};
  const double usual = *predict(std::vector{one}, "x", {})[0].us;
  EXPECT_LT(*predict(std::vector{fast}, "x", {})[0].us, usual);
  EXPECT_GT(*predict(std::vector{one}, "x", slow)[0].us, usual * 1.5);
  fast.xla_flags.push_back(
      flag("xla_tpu_scoped_vmem_limit_kib", "1073741824"));  // more than there is: all of it
  EXPECT_TRUE(predict(std::vector{fast}, "x", {})[0].us);
}

TEST(WorstCases, LargestQFirst) {
  const Accuracy accuracy =
      make_accuracy({case_of("a", 10), case_of("b", 10), case_of("c", 10), case_of("d", 10)},
                    {{11, "", 9}, {2, "", 9}, {30, "", 9}, {std::nullopt, "no", std::nullopt}});
  EXPECT_EQ(worst_cases(accuracy, 9), (std::vector<size_t>{1, 2, 0}));
  EXPECT_EQ(worst_cases(accuracy, 1), (std::vector<size_t>{1}));
  ASSERT_EQ(accuracy.rows.size(), 1u);
  EXPECT_EQ(accuracy.rows[0].cases, 4u);
  EXPECT_EQ(accuracy.rows[0].model.count, 3u);
  EXPECT_NEAR(accuracy.rows[0].roofline.median, 0.1, 1e-12);
}

TEST(Svg, OneMarkPerPrediction) {
  const Accuracy accuracy = make_accuracy({case_of("a", 10), case_of("b", 0.01)},
                                          {{11, "", 9}, {std::nullopt, "no", std::nullopt}});
  const std::string svg = to_svg(accuracy);
  size_t marks = 0;
  for (size_t at = svg.find("h0"); at != std::string::npos; at = svg.find("h0", at + 1)) ++marks;
  EXPECT_EQ(marks, 1u);
  EXPECT_NE(to_svg(make_accuracy({}, {})).find("</svg>"), std::string::npos);
}

TEST(Markdown, SaysWhenAndHow) {
  const Accuracy accuracy = make_accuracy({case_of("a", 10)}, {{11, "", 9}});
  AccuracyOutput output;
  output.date = "2026-01-02";
  output.command = "hlosim accuracy x.json";
  const std::string text = to_markdown(accuracy, output);
  EXPECT_NE(text.find("2026-01-02, 1 cases, by `hlosim accuracy x.json`"), std::string::npos);
  EXPECT_NE(text.find("| v4 | elementwise | single | native | 1 | 10.0 % | 10.0 % | 10.0 % | 1.10 | 1.10 |"),
            std::string::npos);
}

}  // namespace
}  // namespace hlosim
