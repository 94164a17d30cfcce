#include "study/measured_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "study/accuracy.h"
#include "support/folders.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

std::vector<MeasuredCase> cases_of(const std::string& text, DiagnosticList& problems) {
  return read_measured_cases(std::make_shared<const SourceFile>("kernels.json", text), problems);
}
std::vector<MeasuredCase> cases_or_fail(const std::string& text) {
  DiagnosticList problems;
  std::vector<MeasuredCase> cases = cases_of(text, problems);
  EXPECT_FALSE(problems.has_errors());
  return cases;
}

const std::string kCase =
    R"({"id": "a", "device": "v6e", "kernel": "flash_attention", "time_us": 100, "spread_us": 2,
        "args": {"q": "bf16[2,4096,16,128]", "k": "bf16[2,4096,4,128]", "v": "bf16[2,4096,4,128]",
                 "precision": [["DEFAULT", "DEFAULT"], ["DEFAULT", "DEFAULT"]], "logits_dtype": "float32",
                 "logits_scale": 0.08, "bias": null, "logits_soft_cap": 50.0, "return_residuals": true,
                 "mask": {"bool_mask": null, "is_causal": true}, "dropout_rate": 0.0, "paging_info": null},
        "blocks": {"block_q": 1024, "block_kv": 2048, "block_kv_compute": 512, "q_layout": 2, "k_layout": 1,
                   "v_layout": 1, "use_experimental_scheduler": true, "use_base2_exp": true}})";

TEST(MeasuredKernels, ArgumentsAsTheLibraryNamesThem) {
  const std::vector<MeasuredCase> cases = cases_or_fail("[" + kCase + "]");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].kind, "flash_attention");
  EXPECT_EQ(cases[0].scope, "kernel");
  ASSERT_TRUE(cases[0].kernel && *cases[0].kernel);
  const KernelRequest& request = **cases[0].kernel;
  EXPECT_EQ(request.attention.heads, 16);
  EXPECT_EQ(request.attention.kv_heads, 4);
  EXPECT_TRUE(request.attention.causal);
  EXPECT_TRUE(request.attention.soft_cap);
  EXPECT_TRUE(request.attention.residuals);
  ASSERT_TRUE(request.attention_blocks);
  EXPECT_EQ(request.attention_blocks->kv, 2048);
  EXPECT_TRUE(request.attention_blocks->q_sequence_minor);
  const std::vector<Prediction> predictions = predict(cases, "kernels.json", {});
  ASSERT_TRUE(predictions[0].us);
  EXPECT_GT(*predictions[0].us, *predictions[0].roofline_us);
}

TEST(MeasuredKernels, WhatIsNotModelledIsAReasonNotAnError) {
  const auto reason = [](std::string_view from, std::string_view to) {
    std::string text = kCase;
    text.replace(text.find(from), from.size(), to);
    const std::vector<MeasuredCase> cases = cases_or_fail("[" + text + "]");
    return cases.empty() ? "" : predict(cases, "kernels.json", {})[0].reason;
  };
  EXPECT_EQ(reason("\"bool_mask\": null", "\"bool_mask\": \"bool[4096,4096]\""),
            "args: \"mask.bool_mask\" is not modelled");
  EXPECT_EQ(reason("\"paging_info\": null", "\"paging_info\": \"s32[8]\""),
            "args: \"paging_info\" is not modelled");
  EXPECT_EQ(reason("\"flash_attention\"", "\"flash_atention\""), "unknown kernel \"flash_atention\"");
  EXPECT_EQ(reason("\"block_q\": 1024", "\"block_q\": 1000"), "block_q is 1000, expected a multiple of 128");
  EXPECT_EQ(reason("\"block_q\": 1024,", ""), "block_q is missing: block_q and block_kv go together");
  EXPECT_EQ(reason("bf16[2,4096,16,128]", "bf16[2,4096,16"),
            "q is 'bf16[2,4096,16': expected ']' to end the dimensions, saw the end of the text");
}

TEST(MeasuredKernels, WithoutBlocksTheBestThatFit) {
  std::string text = kCase;
  text.replace(text.find("\"blocks\""), std::string::npos, "\"blocks\": null}");
  const std::vector<MeasuredCase> cases =
      cases_or_fail("[" + text + "," + kCase.substr(0, 8) + "b" + kCase.substr(9) + "]");
  const std::vector<Prediction> predictions = predict(cases, "kernels.json", {});
  ASSERT_TRUE(predictions[0].us && predictions[1].us);
  EXPECT_LT(*predictions[0].us, *predictions[1].us);
}

TEST(MeasuredKernels, AKernelOrAModule) {
  DiagnosticList problems;
  cases_of(R"([{"id": "a", "device": "v6e", "kernel": "flash_attention", "hlo": "x", "time_us": 1},
               {"id": "b", "device": "v6e", "kernel": "flash_attention", "args": [], "time_us": 1}])",
           problems);
  ASSERT_EQ(problems.items().size(), 2u);
  EXPECT_EQ(problems.items()[0].message, "a case has a \"kernel\" or \"hlo\", not both");
  EXPECT_EQ(problems.items()[1].message, "\"args\" is an object, not an array");
}

/// Medians and 90 % quantiles that kernels by their blocks reach on three devices.
TEST(MeasuredKernels, AsMeasured) {
  const std::string text = test::shared_text("measured/kernels/cases.json");
  if (text.empty()) GTEST_SKIP() << test::no_shared("measured/kernels");
  const std::vector<MeasuredCase> cases = cases_or_fail(text);
  const std::vector<Prediction> predictions = predict(cases, "cases.json", {});
  std::map<std::string, std::vector<double>> errors;
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(predictions[i].us) << cases[i].id << ": " << predictions[i].reason;
    const bool is_loss = cases[i].kind.starts_with("linear");
    errors[(is_loss ? "loss" : cases[i].device + " attention")].push_back(
        std::abs(*predictions[i].us / cases[i].time_us - 1));
  }
  for (const auto& [kind, of_kind] : errors) {
    EXPECT_LT(quantile(of_kind, 0.5), kind == "loss" ? 0.02 : 0.06) << kind;
    EXPECT_LT(quantile(of_kind, 0.9), kind == "loss" ? 0.04 : 0.15) << kind;
  }
}

}  // namespace
}  // namespace hlosim
