// Advice: every kind on a program for which it pays, proofs that refute, worth, and no advice where none is.
#include "advise/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/advice_text.h"
#include "advise/module_edits.h"
#include "hlo/printer.h"
#include "support/estimated.h"
#include "support/module_files.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

TrialSetup setup_of(std::string_view text, const std::string& device) {
  TrialSetup setup{std::nullopt,
                   std::make_shared<const Module>(test::module_or_fail(text)),
                   test::device_or_fail(device),
                   {}};
  return setup;
}

AdviceReport advice_on(const TrialSetup& setup, const std::vector<std::string>& kinds) {
  AdviceOptions options;
  options.budget = 0;
  options.kinds = kinds;
  const Result<AdviceReport> report = advise(setup, op_table(), options);
  EXPECT_TRUE(report) << render(report.error());
  return report ? *report : AdviceReport();
}

/// A module of ours on which one kind of advice pays.
struct PayingModule {
  std::string_view kind, device;
  Proof::State proof;
  std::string_view text;
};

constexpr PayingModule kPayingModules[] = {
    // The weights are cast in every run.
    {"weights-ahead", "v6e", Proof::State::kProven, R"(HloModule m
ENTRY e {
  x = bf16[128,4096] parameter(0)
  w = f32[4096,4096] parameter(1)
  c = bf16[4096,4096] convert(w)
  ROOT y = bf16[128,4096] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"},
    {"product-precision", "v6e", Proof::State::kProven, R"(HloModule m
ENTRY e {
  x = f32[2048,2048] parameter(0)
  w = f32[2048,2048] parameter(1)
  ROOT y = f32[2048,2048] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
})"},
    {"narrow-moves", "v5e", Proof::State::kProven, R"(HloModule m, num_partitions=4
ENTRY e {
  x = f32[1024,4096] parameter(0)
  g = f32[4096,4096] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}, channel_id=1, use_global_device_ids=true
  ROOT y = bf16[4096,4096] convert(g)
})"},
    {"one-hot-gather", "v6e", Proof::State::kProven, R"(HloModule m
ENTRY e {
  table = bf16[128,512] parameter(0)
  i = s32[32768] parameter(1)
  ROOT y = bf16[32768,512] gather(table, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,512}
})"},
    {"unroll-loop", "v6e", Proof::State::kProven, R"(HloModule m
body {
  s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1024] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[1024] cosine(x)
  ROOT t = (s32[], f32[1024]) tuple(next, y)
}
condition {
  s.1 = (s32[], f32[1024]) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  n = s32[] constant(64)
  ROOT p = pred[] compare(i.1, n), direction=LT
}
ENTRY e {
  x.1 = f32[1024] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[1024]) tuple(zero, x.1)
  w = (s32[], f32[1024]) while(start), condition=condition, body=body
  ROOT r = f32[1024] get-tuple-element(w), index=1
})"},
    {"kernel-blocks", "v6e", Proof::State::kNotPossible, R"(HloModule m
ENTRY e {
  kv_lens = s32[64]{0} parameter(0)
  pages = s32[1024]{0} parameter(1)
  starts = s32[65]{0} parameter(2)
  kinds = s32[3]{0} parameter(3)
  q = bf16[1,64,4,2,128]{4,3,2,1,0} parameter(4)
  kv = bf16[64,1,2,128]{3,2,1,0} parameter(5)
  cache = bf16[1024,128,1,2,128]{4,3,2,1,0} parameter(6)
  ROOT RPAd-p_128-bq_1_1-bkv_128_128.1 = bf16[1,64,4,2,128]{4,3,2,1,0} custom-call(kv_lens, pages, starts, kinds, q, kv, cache), custom_call_target="tpu_custom_call"
})"},
    // The tiles are in the notes.
    {"kernel-blocks", "v7x", Proof::State::kNotPossible, R"(HloModule m
ENTRY e {
  offsets = s32[129]{0} parameter(0)
  ids = s32[383]{0} parameter(1)
  tiles = s32[383]{0} parameter(2)
  lhs = bf16[32768,4096]{1,0} parameter(3)
  rhs = bf16[128,4096,1536]{2,1,0} parameter(4)
  ROOT gmm_megablox.1 = bf16[32768,1536]{1,0} custom-call(offsets, ids, tiles, lhs, rhs), custom_call_target="tpu_custom_call", frontend_attributes={kernel_metadata={"xprof_metadata":"{\"tiling\": {\"tile_m\": 128, \"tile_k\": 512, \"tile_n\": 256}}"}}
})"},
    {"donate-arguments", "v6e", Proof::State::kNotNeeded, R"(HloModule m
ENTRY e {
  x = f32[4096,4096] parameter(0)
  ROOT y = f32[4096,4096] cosine(x)
})"},
    {"scoped-vmem", "v6e", Proof::State::kNotNeeded, R"(HloModule m
ENTRY e {
  x = bf16[16384,8192] parameter(0)
  w = bf16[8192,16384] parameter(1)
  ROOT y = bf16[16384,16384] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"},
    {"shard-arguments", "v6e", Proof::State::kNotNeeded, R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[4096,4096] parameter(0), sharding={replicated}
  b = f32[8192] parameter(1), sharding={devices=[8]<=[8]}
  y = f32[4096,4096] cosine(x)
  z = f32[8192] cosine(b)
  ROOT t = (f32[4096,4096], f32[8192]) tuple(y, z)
})"},
    {"collective-matmul", "v5e", Proof::State::kNotNeeded, R"(HloModule m, num_partitions=4
ENTRY e {
  x = bf16[8192,8192] parameter(0), sharding={devices=[4,1]<=[4]}
  w = bf16[8192,8192] parameter(1), sharding={devices=[1,4]<=[4]}
  ROOT y = bf16[8192,8192] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[1,4]<=[4]}
})"},
    // Two transposes that other layouts make bitcasts.
    {"layouts", "v5e", Proof::State::kProven, R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[1024,2048]{1,0:T(8,128)} parameter(0)
  a = f32[1024,2048]{1,0:T(8,128)} cosine(x)
  t = f32[1024,2048]{0,1:T(8,128)} copy(a)
  b = f32[1024,2048]{0,1:T(8,128)} cosine(t)
  u = f32[1024,2048]{1,0:T(8,128)} copy(b)
  ROOT y = f32[1024,2048]{1,0:T(8,128)} sine(u)
})"},
    {"schedule", "v5e", Proof::State::kProven, R"(HloModule m, is_scheduled=true, num_partitions=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  w = f32[1024,1024]{1,0:T(8,128)} parameter(1)
  r = f32[1024,1024]{1,0:T(8,128)} all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
  p = f32[1024,1024]{1,0:T(8,128)} dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[1024,1024]{1,0:T(8,128)} dot(p, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[1024,1024]{1,0:T(8,128)} add(r, q)
})"},
    {"on-chip", "v5e", Proof::State::kProven, R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[512,1024]{1,0:T(8,128)} parameter(0)
  a = f32[512,1024]{1,0:T(8,128)} cosine(x)
  b = f32[512,1024]{1,0:T(8,128)} add(a, a)
  c = f32[512,1024]{1,0:T(8,128)} multiply(b, a)
  d = f32[512,1024]{1,0:T(8,128)} add(c, a)
  ROOT y = f32[512,1024]{1,0:T(8,128)} multiply(d, b)
})"},
};

class EveryKindOfModuleAdvice : public testing::TestWithParam<PayingModule> {};

TEST_P(EveryKindOfModuleAdvice, PaysAndIsProven) {
  const PayingModule& one = GetParam();
  const TrialSetup setup = setup_of(one.text, std::string(one.device));
  const AdviceReport report = advice_on(setup, {std::string(one.kind)});
  ASSERT_FALSE(report.advice.empty()) << advice_text(report, {});
  const Advice& advice = report.advice[0];
  EXPECT_EQ(advice.proof.state, one.proof) << advice.proof.text;
  if (advice.proposal.for_memory)
    EXPECT_LT(advice.peak_after, advice.peak_before);
  else
    EXPECT_LT(advice.after, advice.before);
  // What is written takes as long as the trial.
  const Result<TrialSetup> changed = with_advice(setup, report, {0});
  ASSERT_TRUE(changed) << render(changed.error());
  TrialSetup again = *changed;
  again.module = std::make_shared<const Module>(test::module_or_fail(to_text(*changed->module, op_table())));
  const Result<Estimate> run = estimate(again, op_table());
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_EQ(run->simulation->totals.makespan, advice.after);
}

INSTANTIATE_TEST_SUITE_P(Modules, EveryKindOfModuleAdvice, testing::ValuesIn(kPayingModules),
                         [](const auto& tried) {
                           std::string name(tried.param.kind);
                           std::erase(name, '-');
                           return name + std::to_string(tried.index);
                         });

/// A model whose step shows what large ones show, in little time.
TrialSetup model_setup(const StepOptions& step, const std::string& device = "v6e") {
  ModelConfig config;
  config.name = "small";
  config.layers = 4, config.d_model = 2048, config.d_ff = 8192;
  config.q_heads = 16, config.kv_heads = 16, config.head_dim = 128, config.vocab = 32000;
  TrialSetup setup{StepModel{std::make_shared<const ModelConfig>(config), step},
                   nullptr,
                   test::device_or_fail(device),
                   {}};
  const Result<void> made = remake_step(setup);
  EXPECT_TRUE(made) << render(made.error());
  return setup;
}

Mesh fsdp(int64_t devices) {
  Mesh mesh;
  mesh.axes = {{"fsdp", devices}};
  return mesh;
}

void expect_model_advice(const TrialSetup& setup, const std::string& kind, std::string_view name,
                         Proof::State proof) {
  const AdviceReport report = advice_on(setup, {kind});
  ASSERT_FALSE(report.advice.empty()) << advice_text(report, {});
  EXPECT_THAT(report.advice[0].proposal.name, HasSubstr(std::string(name)));
  EXPECT_EQ(report.advice[0].proof.state, proof) << report.advice[0].proof.text;
}

TEST(ModelAdvice, ValuesNeedNotGoToTheHost) {
  StepOptions step;
  step.batch = 8, step.sequence = 2048;
  step.remat = *remat_policy("minimal_offloaded");
  expect_model_advice(model_setup(step), "remat", "remat=", Proof::State::kProven);
}

TEST(ModelAdvice, PlainAttentionBecomesAKernel) {
  StepOptions step;
  step.batch = 2, step.sequence = 2048;
  step.attention = AttentionKernel::kPlain;
  expect_model_advice(model_setup(step), "attention", "attention=", Proof::State::kProven);
}

// The kernel's own blocks are smaller than the flash kernel's here, and lose: each is tried with several.
TEST(ModelAdvice, FlashBecomesSplashWithItsOwnBlocks) {
  StepOptions step;
  step.batch = 2, step.sequence = 4096;
  step.attention = AttentionKernel::kFlash;
  step.tiles = {.q = 2048, .kv = 512, .q_dkv = 2048, .kv_dkv = 512, .q_dq = 2048, .kv_dq = 256};
  step.tiles.fused_backward = false;
  expect_model_advice(model_setup(step), "attention", ", blocks of ", Proof::State::kProven);
}

TEST(ModelAdvice, TwoBackwardKernelsBecomeOne) {
  StepOptions step;
  step.batch = 2, step.sequence = 4096;
  step.tiles = {.q = 2048, .kv = 2048, .q_dkv = 2048, .kv_dkv = 2048, .q_dq = 2048, .kv_dq = 2048};
  step.tiles.fused_backward = false;
  expect_model_advice(model_setup(step), "attention-blocks", "one backward kernel",
                      Proof::State::kNotPossible);
}

// Blocks and kernels exclude each other. On ties the smaller change, that of blocks, is advice.
TEST(ModelAdvice, KernelsAndBlocksOfAttentionAreOneChoice) {
  StepOptions step;
  step.batch = 2, step.sequence = 4096;
  const AdviceReport report = advice_on(model_setup(step), {"attention", "attention-blocks"});
  ASSERT_EQ(report.advice.size(), 1u) << advice_text(report, {});
  EXPECT_THAT(report.attempts, Contains(Field(&AdviceAttempt::outcome, AdviceAttempt::Outcome::kBetterOne)));
}

// JAX's flash kernel has other blocks than splash, and two kernels for gradients.
TEST(ModelAdvice, FlashHasBlocksOfItsOwn) {
  StepOptions step;
  step.batch = 2, step.sequence = 4096;
  step.attention = AttentionKernel::kFlash;
  step.tiles = {.q = 256, .kv = 256, .q_dkv = 256, .kv_dkv = 256, .q_dq = 256, .kv_dq = 256};
  step.tiles.fused_backward = false;
  const AdviceReport report = advice_on(model_setup(step), {"attention-blocks"});
  ASSERT_EQ(report.advice.size(), 1u) << advice_text(report, {});
  EXPECT_THAT(report.advice[0].proposal.change, HasSubstr("block_k_major="));
  EXPECT_THAT(report.advice[0].proposal.change, Not(HasSubstr("use_fused_bwd_kernel")));
  EXPECT_THAT(report.advice[0].proposal.change, Not(HasSubstr("MaxText")));
}

TrialSetup expert_setup(const GroupedTile& tile) {
  ModelConfig config;
  config.name = "experts";
  config.layers = 2, config.d_model = 2048, config.d_ff = 0;
  config.q_heads = 16, config.kv_heads = 16, config.head_dim = 128, config.vocab = 32000;
  config.moe = MoeConfig{.experts = 16, .top_k = 4, .d_ff = 2048};
  StepOptions step;
  step.batch = 4, step.sequence = 2048, step.expert_tiles = same_tiles(tile);
  TrialSetup setup{
      StepModel{std::make_shared<const ModelConfig>(config), step}, nullptr, test::device_or_fail("v7x"), {}};
  const Result<void> made = remake_step(setup);
  EXPECT_TRUE(made) << render(made.error());
  return setup;
}

TEST(ModelAdvice, SmallTilesOfExpertsGrow) {
  expect_model_advice(expert_setup({128, 128, 128}), "grouped-tiles", "tiles=", Proof::State::kNotNeeded);
}

// Measured runs don't tell tiles apart that differ by less than a tenth.
TEST(ModelAdvice, LargeTilesOfExpertsStay) {
  const AdviceReport report = advice_on(expert_setup({512, 1024, 1024}), {"grouped-tiles"});
  EXPECT_TRUE(report.advice.empty()) << advice_text(report, {});
  EXPECT_FALSE(report.attempts.empty());
}

// It takes longer, and makes the step fit.
TEST(ModelAdvice, LogitsInPartsMakeItFit) {
  StepOptions step;
  step.batch = 80, step.sequence = 2048;
  expect_model_advice(model_setup(step), "vocab-tiles", "vocab_tiles=", Proof::State::kProven);
}

TEST(ModelAdvice, CastBeforeGatherHalvesTraffic) {
  StepOptions step;
  step.batch = 8, step.sequence = 512, step.mesh = fsdp(8);
  step.cast_before_gather = false;
  expect_model_advice(model_setup(step), "cast-before-gather", "cast", Proof::State::kProven);
}

TEST(ModelAdvice, WeightsOfServersInEightBits) {
  StepOptions step;
  step.kind = StepKind::kDecode;
  step.batch = 1, step.sequence = 128, step.param_type = ElementType::kBF16;
  step.scan_layers = false;
  expect_model_advice(model_setup(step), "stored-weights", "weights=", Proof::State::kNotPossible);
}

TEST(ModelAdvice, LargerBatchesCountPerSequence) {
  StepOptions step;
  step.batch = 8, step.sequence = 256, step.mesh = fsdp(8);
  const TrialSetup setup = model_setup(step);
  const AdviceReport report = advice_on(setup, {"batch"});
  ASSERT_FALSE(report.advice.empty()) << advice_text(report, {});
  EXPECT_GT(report.advice[0].proposal.work, 1);
  EXPECT_FALSE(report.together);
}

// Tensor parallelism over a slow network is worse than FSDP: that is no advice, and the way back is.
TEST(ModelAdvice, MeshesGoTheFasterWay) {
  StepOptions step;
  step.batch = 8, step.sequence = 512;
  step.mesh.axes = {{"tensor", 8}};
  const AdviceReport report = advice_on(model_setup(step), {"mesh"});
  ASSERT_FALSE(report.advice.empty()) << advice_text(report, {});
  step.mesh.axes.clear();
  step.mesh = fsdp(8);
  for (const Advice& one : advice_on(model_setup(step), {"mesh"}).advice) EXPECT_GT(one.saved().count(), 0);
}

// ── proofs ──

Proof proof_of(std::string_view before, const ModuleChange& change, ProofKind kind) {
  const TrialSetup setup = setup_of(before, "v5e");
  Proposal proposal;
  proposal.edit = edit_of_module(op_table(), change);
  proposal.proof = kind;
  TrialSetup after = setup;
  const Result<void> made = proposal.edit(after);
  EXPECT_TRUE(made) << render(made.error());
  return prove(setup, after, proposal, op_table(), nullptr);
}

constexpr std::string_view kDoubled = R"(HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  ROOT z = f32[64,64] subtract(x, y)
})";

Result<void> swap_operands(ModuleEditor& editor, TrialSetup&) {
  const InstructionId root = editor.module().entry_computation().root;
  const InstructionId operands[] = {editor.module()[root].operands[1], editor.module()[root].operands[0]};
  editor.set_operands(root, operands);
  return {};
}

TEST(Proofs, OtherResultsRefute) {
  EXPECT_EQ(proof_of(kDoubled, swap_operands, ProofKind::kSameResults).state, Proof::State::kRefuted);
  EXPECT_EQ(proof_of(kDoubled, swap_operands, ProofKind::kRounding).state, Proof::State::kRefuted);
}

TEST(Proofs, TheSameProgramIsProven) {
  const auto nothing = [](ModuleEditor&, TrialSetup&) -> Result<void> { return {}; };
  EXPECT_EQ(proof_of(kDoubled, nothing, ProofKind::kSameResults).state, Proof::State::kProven);
}

TEST(Proofs, LargeModulesRunAtSmallerSizes) {
  const auto nothing = [](ModuleEditor&, TrialSetup&) -> Result<void> { return {}; };
  const Proof proof = proof_of(R"(HloModule m
ENTRY e {
  x = f32[16384,16384] parameter(0)
  ROOT z = f32[16384,16384] cosine(x)
})",
                               nothing, ProofKind::kSameResults);
  EXPECT_EQ(proof.state, Proof::State::kProven) << proof.text;
  EXPECT_THAT(proof.text, HasSubstr("sizes divided by up to"));
}

TEST(Proofs, UnknownKernelsAreNotProven) {
  const auto nothing = [](ModuleEditor&, TrialSetup&) -> Result<void> { return {}; };
  const Proof proof = proof_of(R"(HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  ROOT z = f32[64] custom-call(x), custom_call_target="unheard_of"
})",
                               nothing, ProofKind::kSameResults);
  EXPECT_EQ(proof.state, Proof::State::kNotPossible);
  EXPECT_THAT(proof.text, HasSubstr("unheard_of"));
}

// ── the engine ──

TEST(Advise, WorthOfALineIsTheStepWithoutIt) {
  const TrialSetup setup = setup_of(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  a = f32[1024,1024]{1,0:T(8,128)} cosine(x), metadata={source_file="m.py" source_line=3}
  ROOT y = f32[1024,1024]{1,0:T(8,128)} negate(a), metadata={source_file="m.py" source_line=4}
})",
                                    "v5e");
  const Result<Estimate> run = estimate(setup, op_table());
  ASSERT_TRUE(run);
  const std::vector<LineWorth> lines =
      worth_of_lines(*run, op_table(), setup.device, setup.options.simulate, 5);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].what, "m.py:3");
  for (const LineWorth& line : lines) EXPECT_EQ(line.without, run->simulation->totals.makespan - line.time);
}

TEST(Advise, ChangesTogetherAreSimulated) {
  const TrialSetup setup = setup_of(R"(HloModule m
ENTRY e {
  x = f32[1024,2048] parameter(0)
  w = f32[2048,2048] parameter(1)
  v = f32[2048,2048] parameter(2)
  a = f32[1024,2048] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}, metadata={source_file="m.py" source_line=1}
  ROOT b = f32[1024,2048] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}, metadata={source_file="m.py" source_line=2}
})",
                                    "v6e");
  const AdviceReport report = advice_on(setup, {"product-precision"});
  ASSERT_EQ(report.advice.size(), 2u) << advice_text(report, {});
  ASSERT_TRUE(report.together);
  const Result<TrialSetup> both = with_advice(setup, report, {0, 1});
  ASSERT_TRUE(both);
  EXPECT_EQ(estimate(*both, op_table())->simulation->totals.makespan, report.together->after);
  EXPECT_LT(report.together->after, std::min(report.advice[0].after, report.advice[1].after));
}

TEST(Advise, ABudgetThatIsOverSaysWhatWasNotTried) {
  TrialSetup setup = setup_of(kPayingModules[0].text, "v6e");
  AdviceOptions options;
  options.budget = 1e-6;
  const Result<AdviceReport> report = advise(setup, op_table(), options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->cut);
  EXPECT_THAT(advice_text(*report, {}), HasSubstr("no time left"));
}

TEST(Advise, AnEmptyProgramGetsNone) {
  const AdviceReport report =
      advice_on(setup_of("HloModule m\nENTRY e {\n  ROOT x = () tuple()\n}\n", "v5e"), {});
  EXPECT_TRUE(report.advice.empty());
}

}  // namespace
}  // namespace hlosim
