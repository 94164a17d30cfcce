// Gradients of whole steps against differences of the loss.
#include <gtest/gtest.h>

#include "workloads/steps.h"

namespace hlosim {
namespace {

struct Case {
  const char* name;
  const char* yaml;
};
std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

constexpr const char* kModelBase = "name: m\nlayers: 2\nd_model: 8\nd_ff: 12\nq_heads: 4\nvocab: 11\n";

constexpr Case kCases[] = {
    {"llama", "kv_heads: 2\n"},
    {"turned_neighbors", "kv_heads: 2\nhead_dim: 6\nrope_interleaved: true\n"},
    {"gpt3",
     "gated_mlp: false\nactivation: gelu\nmlp_bias: true\nfused_qkv: true\ntied_embeddings: true\nnorm: "
     "layer\n"
     "position: learned\nattention: {bias: true, output_bias: true}\n"},
    {"parallel_block",
     "head_dim: 4\ngated_mlp: false\nactivation: relu\ntied_embeddings: true\nparallel_block: true\n"},
    {"gemma",
     "kv_heads: 2\nactivation: gelu\ntied_embeddings: true\nscale_embeddings: true\nfinal_soft_cap: 3\n"
     "post_norms: true\nattention: {window: 3, pattern: LG, soft_cap: 2, scale: 0.7, qk_norm: true}\n"},
    {"global_layers_of_their_own",
     "kv_heads: 2\nattention: {window: 3, pattern: LG, global_head_dim: 4, global_kv_heads: 1, "
     "global_shares_kv: true}\n"},
    {"sinks", "kv_heads: 2\nattention: {window: 4, sinks: true, bias: true}\n"},
    {"latent", "attention: {latent: {q_rank: 5, kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n"},
    {"latent_without_query_rank",
     "attention: {latent: {kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n"},
    {"experts", "moe: {experts: 4, top_k: 2, d_ff: 6, shared_experts: 1, d_ff_shared: 5}\n"},
    {"experts_with_biases", "moe: {experts: 4, top_k: 2, d_ff: 6, bias: true, score: sigmoid}\n"},
    {"experts_by_position",
     "moe: {experts: 4, top_k: 2, d_ff: 6, random_routing: true, normalize_top_k: false}\n"},
    {"experts_with_slots",
     "moe: {experts: 4, top_k: 2, d_ff: 6, dispatch: capacity, capacity_factor: 1.25}\n"},
    {"dense_and_sparse", "moe: {experts: 4, top_k: 1, d_ff: 6, every: 2}\n"},
};

class Gradients : public testing::TestWithParam<Case> {};

/// Along a random direction of each parameter, the loss changes as the gradient says.
void expect_slopes(const ModelConfig& model, const StepOptions& options) {
  test::RunningStep step(model, options);
  ASSERT_TRUE(step.ready());
  const std::vector<test::Numbers> inputs = step.random_inputs(7);
  const std::vector<test::Numbers> results = step.run(inputs);
  ASSERT_GE(results.size(), 2U);
  EXPECT_GT(results[0][0], 0.5);
  EXPECT_LT(results[0][0], 20);
  const double small = 1e-6;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> real(-1, 1);
  double all = 0;
  for (size_t i = 0; i + 1 < results.size(); ++i) {
    ASSERT_TRUE(step.is_float_input(i));
    test::Numbers direction(inputs[i].size());
    double slope = 0, size = 0;
    for (size_t k = 0; k < direction.size(); ++k) {
      direction[k] = real(random);
      slope += direction[k] * results[i + 1][k];
      size += std::abs(direction[k] * results[i + 1][k]);
    }
    double losses[2] = {};
    for (const int side : {0, 1}) {
      std::vector<test::Numbers> moved = inputs;
      for (size_t k = 0; k < direction.size(); ++k) moved[i][k] += (side ? small : -small) * direction[k];
      losses[side] = step.run(moved)[0][0];
    }
    const double measured = (losses[1] - losses[0]) / (2 * small);
    EXPECT_NEAR(slope, measured, 1e-6 * size + 2e-8) << step.name(i);
    all += size;
  }
  EXPECT_GT(all, 0.1) << "nothing changes the loss";
}

TEST_P(Gradients, AreTheSlopesOfTheLoss) {
  expect_slopes(test::model_or_fail(std::string(kModelBase) + GetParam().yaml), test::exact_options());
}

TEST(Steps, StacksMayHaveTheirLayersSecond) {
  StepOptions options = test::exact_options();
  options.stack_axis = 1;
  const ModelConfig model = test::model_or_fail(std::string(kModelBase) + "kv_heads: 2\n");
  const Module module = test::step_or_fail(model, options);
  const auto is_wo = [](std::string_view name) { return name.find("mlp.wo") != std::string_view::npos; };
  bool found = false;
  for (const InstructionId id : module.entry_computation().parameters)
    if (is_wo(module[id].name)) found = to_text_without_layout(module[id].shape) == "f64[12,2,8]";
  EXPECT_TRUE(found);
  expect_slopes(model, options);
}

/// In the types that steps usually have, by the usual kernels: the same loss, less exactly.
TEST(Steps, UsualTypesComputeTheSame) {
  for (const char* yaml : {"kv_heads: 2\n", "moe: {experts: 4, top_k: 2, d_ff: 6, random_routing: true}\n"}) {
    const ModelConfig model = test::model_or_fail(std::string(kModelBase) + yaml);
    StepOptions usual;
    usual.batch = 2, usual.sequence = 8, usual.gradients_only = true;
    test::RunningStep exact(model, test::exact_options()), coarse(model, usual);
    ASSERT_TRUE(exact.ready() && coarse.ready());
    const std::vector<test::Numbers> want = exact.run(exact.random_inputs(5));
    const std::vector<test::Numbers> got = coarse.run(coarse.random_inputs(5));
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_LT(test::difference(want[i], got[i]), i == 0 ? 0.01 : 0.08) << (i ? exact.name(i - 1) : "loss");
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Gradients, testing::ValuesIn(kCases), case_name);

/// What steps of another form must agree on.
void expect_same_gradients(const char* yaml, const StepOptions& options, const char* what, double tolerance) {
  const ModelConfig model = test::model_or_fail(std::string(kModelBase) + yaml);
  test::RunningStep plain(model, test::exact_options()), other(model, options);
  ASSERT_TRUE(plain.ready() && other.ready());
  const std::vector<test::Numbers> want = plain.run(plain.random_inputs(5));
  const std::vector<test::Numbers> got = other.run(other.random_inputs(5));
  ASSERT_EQ(want.size(), got.size()) << what;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_LT(test::difference(want[i], got[i]), tolerance)
        << what << ", " << (i == 0 ? "loss" : plain.name(i - 1));
}

TEST(Steps, RematerializationChangesNothing) {
  for (const char* yaml :
       {"kv_heads: 2\n", "moe: {experts: 4, top_k: 2, d_ff: 6}\n",
        "attention: {latent: {q_rank: 5, kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n"})
    for (const char* policy : {"nothing_saveable", "custom", "minimal", "minimal_with_context",
                               "save_dot_except_mlpwi", "save_dot_except_mlp", "save_qkv_proj",
                               "save_out_proj", "qkv_proj_offloaded", "minimal_offloaded"}) {
      StepOptions options = test::exact_options();
      options.remat = *remat_policy(policy);
      expect_same_gradients(yaml, options, policy, 1e-13);
    }
}

TEST(Steps, OffloadingTheLayersInputsChangesNothing) {
  StepOptions options = test::exact_options();
  options.remat[SavedValue::kDecoderLayerInput] = options.remat[SavedValue::kContext] = Keep::kHost;
  expect_same_gradients("kv_heads: 2\n", options, "offloaded", 1e-13);
}

TEST(Steps, KernelsComputeWhatPlainAttentionDoes) {
  for (const char* yaml :
       {"kv_heads: 2\n", "kv_heads: 2\nattention: {window: 3, pattern: LG, soft_cap: 2}\n",
        "kv_heads: 2\nattention: {sinks: true}\n",
        "attention: {latent: {q_rank: 5, kv_rank: 6, nope_dim: 3, rope_dim: 2, value_dim: 4}}\n"})
    for (const bool fused : {true, false})
      for (const char* policy : {"full", "minimal_with_context"}) {
        StepOptions options = test::exact_options();
        options.attention = AttentionKernel::kSplash;
        options.tiles.fused_backward = fused;
        options.tiles.kv_dkv = 4;  // the gradients of queries in two parts
        options.remat = *remat_policy(policy);
        expect_same_gradients(yaml, options, fused ? "one kernel" : "two kernels", 1e-9);
      }
}

TEST(Steps, KernelsTakeTheSequenceLastToo) {
  for (const bool fused : {true, false}) {
    StepOptions options = test::exact_options();
    options.attention = AttentionKernel::kSplash;
    options.tiles.fused_backward = fused;
    options.tiles.q_sequence_minor = options.tiles.v_sequence_minor = true;
    options.tiles.k_sequence_minor = fused;
    expect_same_gradients("kv_heads: 2\n", options, "sequence last", 1e-9);
  }
}

TEST(Steps, TilesOfTheVocabularyChangeNothing) {
  for (const char* yaml : {"kv_heads: 2\n", "tied_embeddings: true\n"}) {
    StepOptions options = test::exact_options();
    options.vocab_tiles = 4;
    expect_same_gradients(yaml, options, "tiles", 1e-12);
  }
}

TEST(Steps, OneHotLookupsChangeNothing) {
  StepOptions options = test::exact_options();
  options.one_hot_embedding = true;
  expect_same_gradients("tied_embeddings: true\n", options, "one-hot", 1e-12);
}

/// Features of heads in another order: neighbors 2i and 2i + 1 for i and i + half.
test::Numbers with_pairs_beside(const test::Numbers& weights, size_t head_dim) {
  test::Numbers made(weights.size());
  for (size_t at = 0; at < weights.size(); at += head_dim)
    for (size_t i = 0; i < head_dim / 2; ++i) {
      made[at + 2 * i] = weights[at + i];
      made[at + 2 * i + 1] = weights[at + i + head_dim / 2];
    }
  return made;
}

TEST(Steps, TurnedNeighborsAreTurnedHalvesInAnotherOrder) {
  const std::string yaml = std::string(kModelBase) + "kv_heads: 2\nhead_dim: 6\n";
  test::RunningStep halves(test::model_or_fail(yaml), test::exact_options());
  test::RunningStep neighbors(test::model_or_fail(yaml + "rope_interleaved: true\n"), test::exact_options());
  ASSERT_TRUE(halves.ready() && neighbors.ready());
  std::vector<test::Numbers> inputs = halves.random_inputs(5);
  const double loss = halves.run(inputs)[0][0];
  EXPECT_GT(std::abs(neighbors.run(inputs)[0][0] - loss), 1e-6) << "the order does not matter";
  int permuted = 0;
  for (size_t i = 0; i < halves.inputs(); ++i) {
    ASSERT_EQ(halves.name(i), neighbors.name(i));
    const std::string name = halves.name(i);
    if (name.find("query") == std::string::npos && name.find("key") == std::string::npos) continue;
    inputs[i] = with_pairs_beside(inputs[i], 6);
    ++permuted;
  }
  EXPECT_EQ(permuted, 2);
  EXPECT_NEAR(neighbors.run(inputs)[0][0], loss, 1e-12);
}

/// Layer by layer, with parameters of their own: the loop's with the stack's parts.
TEST(Steps, UnrolledLayersComputeWhatTheLoopDoes) {
  const ModelConfig model = test::model_or_fail(std::string(kModelBase) + "kv_heads: 2\n");
  test::RunningStep loop(model, test::exact_options());
  StepOptions options = test::exact_options();
  options.scan_layers = false;
  test::RunningStep unrolled(model, options);
  ASSERT_TRUE(loop.ready() && unrolled.ready());
  const std::vector<test::Numbers> stacked = loop.random_inputs(9);
  std::map<std::string, test::Numbers> by_name;
  for (size_t i = 0; i < loop.inputs(); ++i) {
    const std::string name = loop.name(i);
    if (name.rfind("layers.", 0) != 0) {
      by_name[name] = stacked[i];
      continue;
    }
    const auto half = static_cast<int64_t>(stacked[i].size() / 2);
    by_name["layers.0." + name.substr(7)] = test::Numbers(stacked[i].begin(), stacked[i].begin() + half);
    by_name["layers.1." + name.substr(7)] = test::Numbers(stacked[i].begin() + half, stacked[i].end());
  }
  std::vector<test::Numbers> inputs;
  for (size_t i = 0; i < unrolled.inputs(); ++i) inputs.push_back(by_name.at(unrolled.name(i)));
  const std::vector<test::Numbers> want = loop.run(stacked), got = unrolled.run(inputs);
  std::map<std::string, test::Numbers> gradients;
  for (size_t i = 0; i + 1 < got.size(); ++i) gradients[unrolled.name(i)] = got[i + 1];
  EXPECT_LT(test::difference(want[0], got[0]), 1e-13);
  for (size_t i = 0; i + 1 < want.size(); ++i) {
    const std::string name = loop.name(i);
    test::Numbers other = gradients[name];
    if (name.rfind("layers.", 0) == 0) {
      other = gradients["layers.0." + name.substr(7)];
      const test::Numbers& second = gradients["layers.1." + name.substr(7)];
      other.insert(other.end(), second.begin(), second.end());
    }
    EXPECT_LT(test::difference(want[i + 1], other), 1e-12) << name;
  }
}

}  // namespace
}  // namespace hlosim
