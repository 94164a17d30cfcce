#include "model/pallas/kernel_call.h"

#include <gtest/gtest.h>

#include "model/custom_call_costs.h"
#include "model/pallas/attention.h"
#include "model/pallas/custom_call_cost_source.h"
#include "support/folders.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr std::string_view kMetadata =
    R"(frontend_attributes={kernel_metadata={"xprof_metadata":"{\"block_q\": 2048, \"block_kv\": 1024, )"
    R"(\"block_kv_compute\": 512, \"block_q_dkv\": 2048, \"block_kv_dkv\": 2048, )"
    R"(\"block_kv_dkv_compute\": 1024, \"q_layout\": 1, \"attn_logits_soft_cap\": null, )"
    R"(\"max_logit_const\": 30.0, \"use_base2_exp\": true}"}})";

Module module_of(const std::string& call) {
  return test::module_or_fail(
      "HloModule m\nENTRY e {\n"
      "  count = s32[] parameter(0)\n  rows = s8[20] parameter(1)\n"
      "  q = bf16[4,32,8192,128] parameter(2)\n  k = bf16[4,8,8192,128] parameter(3)\n"
      "  v = bf16[4,8,8192,128] parameter(4)\n  positions = s32[8192,128] parameter(5)\n"
      "  sums = f32[4,32,8,8192] parameter(6)\n  out = bf16[4,32,8192,128] parameter(7)\n"
      "  x = f32[4096,4096] parameter(8)\n  labels = s32[4096] parameter(9)\n"
      "  w = bf16[4096,131072] parameter(10)\n  places = s32[8,8192] parameter(11)\n"
      "  table = s8[16] parameter(12)\n  ROOT " +
      call + "\n}\n");
}
std::optional<KernelCall> found(const std::string& call, const std::string& device = "v6e") {
  const Module module = module_of(call);
  return find_kernel_call(module, module[module.entry_computation().root],
                          test::device_or_fail(device).config);
}

const std::string kForward =
    "splash_mha_fwd_residuals.2 = (bf16[4,32,8192,128], f32[4,32,8192,128], f32[4,32,8192,128]) "
    "custom-call(count, rows, q, k, v, positions), custom_call_target=\"tpu_custom_call\"";
const std::string kBackward =
    "splash_mha_dkv_no_residuals.1 = (bf16[4,4,32,8192,128], bf16[4,8,8192,128], bf16[4,8,8192,128]) "
    "custom-call(table, q, k, v, sums, out, sums, places), custom_call_target=\"tpu_custom_call\"";

/// Both kernels have the same name and operands. Only tokamax's notes the base of its exponential.
TEST(KernelCall, JaxSplashMasksEveryBlockAndTakesPowersOfE) {
  std::string notes(kMetadata);
  const std::string of_tokamax = R"(\"max_logit_const\": 30.0, \"use_base2_exp\": true)";
  notes.replace(notes.find(of_tokamax), of_tokamax.size(), R"(\"use_fused_bwd_kernel\": true)");
  const std::optional<KernelCall> call = found(kForward + ", " + notes);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->cost.masked, 20 * 128);  // all that are computed
  AttentionProblem problem{.batch = 4,
                           .heads = 32,
                           .kv_heads = 8,
                           .queries = 8192,
                           .keys = 8192,
                           .head_size = 128,
                           .value_size = 128,
                           .causal = true,
                           .residuals = true,
                           .base2 = false,
                           .masks_all = true};
  const AttentionBlocks blocks{.q = 2048, .kv = 1024, .kv_compute = 512};
  const DeviceConfig device = test::device_or_fail("v6e").config;
  EXPECT_EQ(call->cost.kernel, attention_cost(device, AttentionPass::kForward, problem, blocks)->kernel);
  problem.masks_all = false;
  EXPECT_GT(call->cost.kernel, attention_cost(device, AttentionPass::kForward, problem, blocks)->kernel);
}

TEST(KernelCall, SplashAttentionByItsMetadata) {
  const std::optional<KernelCall> call = found(kForward + ", " + std::string(kMetadata));
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->blocks_given);
  EXPECT_EQ(call->what, "attention, forward");
  EXPECT_EQ(call->cost.grid, (std::vector<int64_t>{4, 32, 20}));  // of 4 x 8 blocks
  EXPECT_EQ(call->cost.skipped, 12 * 128);
  EXPECT_EQ(call->cost.masked, 8 * 128);
  AttentionProblem problem{.batch = 4,
                           .heads = 32,
                           .kv_heads = 8,
                           .queries = 8192,
                           .keys = 8192,
                           .head_size = 128,
                           .value_size = 128,
                           .causal = true,
                           .residuals = true,
                           .known_maximum = true};
  const Result<KernelCost> same = attention_cost(test::device_or_fail("v6e").config, AttentionPass::kForward,
                                                 problem, {.q = 2048, .kv = 1024, .kv_compute = 512});
  ASSERT_TRUE(same);
  EXPECT_EQ(call->cost.kernel, same->kernel);
}

TEST(KernelCall, GradientsInOneKernel) {
  const std::optional<KernelCall> call = found(kBackward + ", " + std::string(kMetadata));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->what, "attention, gradients");
  EXPECT_EQ(call->cost.grid, (std::vector<int64_t>{4, 32, 16}));
  EXPECT_EQ(call->cost.computed, 10 * 128);
  // Five products of 2048 x 2048 x 128 in each of 10 blocks.
  EXPECT_EQ(call->cost.flops.count(), 2 * 5 * int64_t{2048} * 2048 * 128 * 10 * 128);
}

/// A maker may say which blocks there are, which in parts of a sequence don't follow from its length.
TEST(KernelCall, MasksThatTheCallStates) {
  const auto with = [](const std::string& call, const std::string& mask) {
    return found(call + ", " + std::string(kMetadata) + ", backend_config={\"attention_mask\":{" + mask +
                 "}}");
  };
  const std::optional<KernelCall> window = with(kBackward, "\"causal\":true,\"window\":2048");
  ASSERT_TRUE(window);
  EXPECT_EQ(window->cost.computed, 7 * 128);  // 4 on the diagonal, 3 below it
  for (const std::string& call : {kForward, kBackward}) {
    const std::optional<KernelCall> stated = with(call, "\"causal\":true,\"window\":0,\"active_blocks\":5");
    ASSERT_TRUE(stated);
    EXPECT_EQ(stated->cost.computed, 5 * 128);
  }
  EXPECT_EQ(with(kBackward, "\"causal\":true,\"window\":0")->cost.computed, 10 * 128);
}

TEST(KernelCall, WithoutBlocksTheBestThatFit) {
  const std::optional<KernelCall> call = found(kForward);
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->blocks_given);
  EXPECT_TRUE(call->cost.fits());
}

TEST(KernelCall, TheNameMayStandInTheOpsName) {
  std::string call = kForward;
  call.replace(0, call.find(' '), "custom-call.7");
  EXPECT_FALSE(found(call));
  EXPECT_TRUE(found(call + ", metadata={op_name=\"jit(f)/splash_mha_fwd_residuals/pallas_call\"}"));
}

TEST(KernelCall, LossOfALinearLayer) {
  const std::string operands = "custom-call(x, labels, w), custom_call_target=\"tpu_custom_call\"";
  const std::optional<KernelCall> call =
      found("linear_softmax_cross_entropy_loss_forward_pallas_kernel.1 = (f32[1], f32[4096]) " + operands);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->cost.flops.count(), 2 * int64_t{4096} * 4096 * 131072);
  const std::optional<KernelCall> back = found(
      "linear_softmax_cross_entropy_loss_backward_pallas_kernel.1 = (f32[4096,4096], f32[4096,131072]) " +
      operands);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->cost.flops.count(), 3 * call->cost.flops.count());
}

/// Names alone don't make a kernel.
TEST(KernelCall, ShapesHaveToFit) {
  EXPECT_FALSE(found("flash_attention.1 = f32[8] custom-call(x), custom_call_target=\"tpu_custom_call\""));
  EXPECT_FALSE(found("splash_mha_fwd.1 = f32[8] custom-call(q, k), custom_call_target=\"tpu_custom_call\""));
  EXPECT_FALSE(
      found("splash_mha_fwd.1 = f32[8] custom-call(q, x, w), custom_call_target=\"tpu_custom_call\""));
  EXPECT_FALSE(
      found("linear_softmax_cross_entropy_loss.1 = f32[8] custom-call(w, x), "
            "custom_call_target=\"tpu_custom_call\""));
  std::string other = kForward;
  other.replace(other.find("tpu_custom_call"), 15, "my_custom_call");
  EXPECT_FALSE(found(other));
  std::string odd(kMetadata);
  odd.replace(odd.find("2048"), 4, "1000");
  EXPECT_FALSE(found(kForward + ", " + odd));
}

TEST(CostEstimate, InBothForms) {
  const auto estimate = [](const std::string& config) {
    const Module module =
        module_of("kernel.1 = f32[4096] custom-call(x), custom_call_target=\"tpu_custom_call\"" + config);
    return cost_estimate_of(module[module.entry_computation().root]);
  };
  for (const char* config :
       {R"(, backend_config={"custom_call_config":{"body":"AA==","cost_estimate":{"flops":"4398046511104",)"
        R"("transcendentals":"8589934592","bytes_accessed":"1744830464","remote_bytes_transferred":"0"}}})",
        R"(, backend_config="{\"custom_call_config\": {\"cost_estimate\": {\"flops\": 4398046511104, )"
        R"(\"transcendentals\": 8589934592, \"bytes_accessed\": 1744830464}}}")"}) {
    const std::optional<CostEstimate> read = estimate(config);
    ASSERT_TRUE(read) << config;
    EXPECT_EQ(read->flops, 4398046511104.0);
    EXPECT_EQ(read->transcendentals, 8589934592.0);
    EXPECT_EQ(read->bytes, 1744830464.0);
  }
  EXPECT_FALSE(estimate(""));
  EXPECT_FALSE(estimate(R"(, backend_config={"custom_call_config":{"body":"AA=="}})"));
  EXPECT_FALSE(estimate(R"(, backend_config={"custom_call_config":{"cost_estimate":{"flops":"0"}}})"));
}

/// What decides a call's cost, the most trustworthy first.
TEST(CustomCallCostSource, OrderOfTrust) {
  const std::string estimate =
      R"(, backend_config={"custom_call_config":{"cost_estimate":{"flops":"1000000000000",)"
      R"("transcendentals":"0","bytes_accessed":"0"}}})";
  const auto cost = [](const std::string& call, const CostOptions& options) {
    const Module module = module_of(call);
    AssumptionList assumptions;
    const auto costs =
        cost_instructions(module, op_table(), test::device_or_fail("v6e"), options, assumptions);
    EXPECT_TRUE(costs);
    EXPECT_GE(assumptions.items().size(), 1u);
    return std::pair((*costs)[module.entry_computation().root], assumptions.items()[0].text);
  };
  const std::string known = kForward + ", " + std::string(kMetadata) + estimate;
  std::string other = known;
  other.replace(0, other.find(' '), "other.1");
  std::string bytes = other.substr(0, other.find(", backend_config"));
  DiagnosticList problems;
  const CustomCallCosts file =
      read_custom_call_costs(test::source_of("tpu_custom_call: {time: 5 us}\n"), problems);

  const auto [by_user, user_text] = cost(known, {.custom_calls = &file});
  EXPECT_EQ(by_user.busy[index_of(Unit::kCustom)].count(), 5'000'000);
  EXPECT_EQ(by_user.time().count(), 5'000'000);  // nothing on top
  EXPECT_EQ(user_text.substr(0, 30), "custom-call costs are given by");
  const auto [by_blocks, block_text] = cost(known, {});
  EXPECT_EQ(by_blocks.provenance, Provenance::kCalibrated);
  EXPECT_EQ(by_blocks.category, CostCategory::kCustomCall);
  EXPECT_EQ(by_blocks.time(),
            found(known)->cost.kernel + test::device_or_fail("v6e").config.overhead.instruction);
  EXPECT_EQ(block_text,
            "custom calls are costed by their blocks: attention, forward, block_q=2048, block_kv=1024, "
            "block_kv_compute=512");
  const auto [by_estimate, estimate_text] = cost(other, {});
  EXPECT_EQ(estimate_text, "custom calls are costed by their cost_estimate, FLOPs at 45 % of the peak");
  EXPECT_EQ(by_estimate.provenance, Provenance::kCalibrated);
  EXPECT_NEAR(static_cast<double>(by_estimate.busy[index_of(Unit::kMxu)].count()), 1e24 / (0.45 * 917.5e12),
              1e6 * 1e3);
  const auto [by_bytes, byte_text] = cost(bytes, {});
  EXPECT_EQ(byte_text, "tpu_custom_call: bytes-only estimate (no compute model)");
  EXPECT_EQ(by_bytes.provenance, Provenance::kDefault);
}

/// 64 forward and 32 backward calls took 1,089 ms of a training step.
TEST(KernelCall, AttentionOfAWholeProgram) {
  const std::string text = test::shared_text("measured/profiles/programs/llama8b_v6e.hlo");
  if (text.empty()) GTEST_SKIP() << test::no_shared("measured/profiles/programs");
  const Module module = test::module_or_fail(text);
  const Device device = test::device_or_fail("v6e");
  double milliseconds = 0;
  int calls = 0;
  for (const Instruction& instruction : module.instructions)
    if (const auto call = find_kernel_call(module, instruction, device.config)) {
      EXPECT_TRUE(call->blocks_given);
      milliseconds += 32 * static_cast<double>(call->cost.kernel.count()) / 1e9;
      ++calls;
    }
  EXPECT_EQ(calls, 3);
  RecordProperty("milliseconds", std::to_string(milliseconds));
  EXPECT_NEAR(milliseconds, 1089, 0.15 * 1089);
}

}  // namespace
}  // namespace hlosim
