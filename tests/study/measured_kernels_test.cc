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
  std::vector<double> latent;
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(predictions[i].us) << cases[i].id << ": " << predictions[i].reason;
    // The context of these is assumed: only ratios of their times say something (docs/kernels.md).
    if (cases[i].kind.starts_with("mla_")) {
      latent.push_back(*predictions[i].us / cases[i].time_us);
      continue;
    }
    const bool is_loss = cases[i].kind.starts_with("linear");
    errors[(is_loss ? "loss" : cases[i].device + " attention")].push_back(
        std::abs(*predictions[i].us / cases[i].time_us - 1));
  }
  for (const auto& [kind, of_kind] : errors) {
    EXPECT_LT(quantile(of_kind, 0.5), kind == "loss" ? 0.02 : 0.06) << kind;
    EXPECT_LT(quantile(of_kind, 0.9), kind == "loss" ? 0.04 : 0.15) << kind;
  }
}

// ── kernels of servers and experts ──

MeasuredCase one_case(const std::string& fields) {
  const std::vector<MeasuredCase> cases =
      cases_or_fail(R"([{"id": "a", "device": "v7x", "time_us": 100, )" + fields + "}]");
  EXPECT_EQ(cases.size(), 1u);
  return cases.front();
}
std::string reason_of(const std::string& fields) {
  const std::vector<MeasuredCase> cases{one_case(fields)};
  return predict(cases, "kernels.json", {})[0].reason;
}

const std::string kGrouped =
    R"("kernel": "ragged_dot", "args": {"lhs": "bf16[4096,1024]", "rhs": "bf16[8,2048,1024]",
       "group_sizes": [4000, 96, 0, 0, 0, 0, 0, 0], "precision": ["DEFAULT", "DEFAULT"],
       "ragged_dot_dimension_numbers": {"dot_dimension_numbers": [[[1], [2]], [[], []]],
                                        "lhs_ragged_dimensions": [0], "rhs_group_dimensions": [0]},
       "preferred_element_type": "float32", "return_residuals": true, "activation": null, "rhs_scale": null,
       "maybe_quantize_lhs": false, "zero_initialize": true, "form": "in words"},
       "blocks": {"tile_m": 128, "tile_k": 2048, "tile_n": 512, "input_buffer_count": 3, "combine_scopes": false})";

TEST(MeasuredKernels, GroupedProductsAsTokamaxNamesThem) {
  const MeasuredCase one = one_case(kGrouped);
  ASSERT_TRUE(*one.kernel) << one.kernel->error().message;
  const auto& request = std::get<GroupedRequest>(*(*one.kernel)->serving);
  EXPECT_EQ(request.problem.form, GroupedForm::kTransposed);
  EXPECT_EQ(request.problem.columns, 2048);
  EXPECT_EQ(request.problem.result, ElementType::kF32);
  EXPECT_TRUE(request.problem.copied);
  EXPECT_EQ(request.problem.sizes.size(), 8u);
  // Tiles are named by the forward product: those of its depth are the columns of this one.
  EXPECT_EQ(request.blocks->n, 2048);
  EXPECT_EQ(request.blocks->k, 512);
  EXPECT_EQ(request.blocks->buffers, 3);
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = kGrouped;
    text.replace(text.find(from), from.size(), to);
    return reason_of(text);
  };
  EXPECT_EQ(with("\"activation\": null", "\"activation\": \"silu\""), "args: \"activation\" is not modelled");
  EXPECT_EQ(with("[[1], [2]]", "[[0], [2]]"),
            "args: \"ragged_dot_dimension_numbers\" contract 02, which is not modelled");
}

TEST(MeasuredKernels, LatentAttentionHasTheContextOfItsEntry) {
  const std::string fields =
      R"("kernel": "mla_ragged_paged_decode", "args": {"tokens": 16, "q_heads": 8, "kv_lora_rank": 512,
         "qk_rope_head_dim": 64, "page_size": 256, "kv_len": 4096, "q_dtype": "bf16", "kv_dtype": "bf16"},
         "blocks": {"decode_batch": 32, "kv_pages_per_block": 1, "third": 2, "tuned": true})";
  const auto request = [&](const std::string& origin) {
    const MeasuredCase one = one_case(fields + origin);
    return std::get<LatentRequest>(*(*one.kernel)->serving);
  };
  EXPECT_EQ(request("").problem.sequences, (std::vector<SequenceLength>{{16, 1, 4096}}));
  EXPECT_EQ(request("").blocks->decode_pages, 32);
  EXPECT_EQ(request("").blocks->decode_batch, 2);
  const std::string table = R"(, "source": "x@1:kernels/mla/v2/tuned_block_sizes.py")";
  EXPECT_EQ(request(table + R"(, "notes": "kv_len 4096 is assumed here")").problem.sequences[0].keys, 4096);
}

TEST(MeasuredKernels, OtherKernelsOfServersAndSteps) {
  const MeasuredCase experts = one_case(
      R"("kernel": "fused_ep_moe", "args": {"tokens": 1024, "experts": 160, "top_k": 8, "d_model": 6144,
         "d_ff_expert": 2560, "model": "m"}, "blocks": {"version": "optimized"})");
  const auto& problem = std::get<ExpertRequest>(*(*experts.kernel)->serving).problem;
  EXPECT_TRUE(problem.pipelined);
  EXPECT_EQ(problem.weights, ElementType::kF8E4M3FN);
  const MeasuredCase splash = one_case(
      R"("kernel": "splash_attention_vjp", "args": {"q": "bf16[1,4096,32,128]", "k": "bf16[1,4096,8,128]",
         "v": "bf16[1,4096,8,128]", "mask": {"is_causal": true}, "return_residuals": true},
         "blocks": {"block_q_dkv": 2048, "block_kv_dkv": 2048, "block_kv_dkv_compute": 2048, "block_q_dq": 2048,
                    "block_kv_dq": 2048, "fused_backward": true})");
  EXPECT_TRUE((*splash.kernel)->alone);
  EXPECT_EQ((*splash.kernel)->attention_blocks->q, 2048);
  EXPECT_EQ(reason_of(R"("kernel": "xla_fusion_scores", "args": {"q": "bf16[8192,128]", "k": "bf16[8192]"})"),
            "args: \"q\" and \"k\" are matrices such as bf16[8192,128]");
  EXPECT_EQ(reason_of(R"("kernel": "ragged_paged_attention", "args": {"q_heads": 8, "kv_heads": 1,
                         "head_size": 128, "lengths": "64x1:1500"})"),
            "");
}

/// What the second set of kernels reaches.
TEST(MeasuredKernels, OfServersAsMeasured) {
  const std::string text = test::shared_text("measured/kernels/cases-2.json");
  if (text.empty()) GTEST_SKIP() << test::no_shared("measured/kernels");
  const std::vector<MeasuredCase> cases = cases_or_fail(text);
  const std::vector<Prediction> predictions = predict(cases, "cases-2.json", {});
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> latent;
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(predictions[i].us) << cases[i].id << ": " << predictions[i].reason;
    // The context of these is assumed: only ratios of their times say something (docs/kernels.md).
    if (cases[i].kind.starts_with("mla_")) {
      latent.push_back(*predictions[i].us / cases[i].time_us);
      continue;
    }
    errors[cases[i].kind == "ragged_dot" ? "ragged_dot " + cases[i].device : cases[i].kind.substr(0, 9)]
        .push_back(std::abs(*predictions[i].us / cases[i].time_us - 1));
  }
  for (const auto& [kind, of_kind] : errors) {
    const bool is_grouped = kind.starts_with("ragged_dot");
    EXPECT_LT(quantile(of_kind, 0.5), is_grouped ? 0.08 : 0.22) << kind;
    EXPECT_LT(quantile(of_kind, 0.9), is_grouped ? 0.15 : 0.35) << kind;
  }
  constexpr double kSpread = 1.6;
  EXPECT_LT(quantile(latent, 1), kSpread * quantile(latent, 0));
}

}  // namespace
}  // namespace hlosim
