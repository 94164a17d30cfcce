// What is wrong with models, options and meshes, said where it stands.
#include <gtest/gtest.h>

#include "workloads/steps.h"

namespace hlosim {
namespace {

std::string fault_of(const std::string& yaml) {
  const Result<ModelConfig> model = read_model_config(std::make_shared<const SourceFile>("m.yaml", yaml));
  return model ? std::string("none") : render(model.error());
}
constexpr const char* kBase = "name: m\nlayers: 2\nd_model: 8\nd_ff: 12\nq_heads: 4\nvocab: 11\n";

TEST(ModelFaults, StandWhereTheyAre) {
  const std::pair<const char*, const char*> faults[] = {
      {"layer: 2\n", "m.yaml:7:1: error: unknown key \"layer\" of a model"},
      {"head_dim: 100000000\n", "\"head_dim\" is a whole number from 1 to 16777216, not 100000000"},
      {"moe: {experts: 4, top_k: 2, d_ff: 3, every: 9000000000000000000}\n",
       "\"every\" is a whole number from 1 to 4096, not 9000000000000000000"},
      {"kv_heads: 3\n", "4 q_heads can't share 3 kv_heads evenly"},
      {"kv_heads: none\n", "m.yaml:7:11: error: \"kv_heads\" is a whole number, not \"none\""},
      {"kv_heads: [1]\n", "m.yaml:7:11: error: \"kv_heads\" is a whole number, not an array"},
      {"activation: swish\n",
       "m.yaml:7:13: error: \"activation\" is one of silu, gelu, relu, sigmoid, not \"swish\""},
      {"attention: {windows: 3}\n", "m.yaml:7:13: error: unknown key \"windows\" of attention"},
      {"attention: {pattern: LG}\n", "attention.pattern has L, but attention.window is missing"},
      {"attention: {pattern: LX, window: 2}\n",
       "attention.pattern has 'X', expected letters L (window) and G (full)"},
      {"attention: {latent: {kv_rank: 4}}\n",
       "attention.latent needs kv_rank, nope_dim, rope_dim and value_dim"},
      {"moe: {experts: 4, top_k: 5, d_ff: 3}\n", "moe.top_k 5 of 4 experts"},
      {"moe: {experts: 4, top_k: 2}\n", "m.yaml:7:6: error: moe without \"d_ff\""},
      {"moe: 3\n", "m.yaml:7:6: error: \"moe\" is an object, not \"3\""},
      {"head_dim: 3\n", "head_dim 3 is odd, but rotary positions turn pairs"},
      {"attention: {window: 3, pattern: LG, global_head_dim: 1}\n",
       "attention.global_head_dim 1 is odd, but rotary positions turn pairs"},
      {"fused_qkv: true\nkv_heads: 2\n", "fused_qkv needs as many kv_heads as q_heads"},
      {"fused_qkv: true\nattention: {window: 3, pattern: LG, global_kv_heads: 2}\n",
       "fused_qkv needs as many kv_heads as q_heads"},
      {"fused_qkv: true\nattention: {window: 3, pattern: LG, global_shares_kv: true}\n",
       "with values of their own"}};
  for (const auto& [text, want] : faults)
    EXPECT_NE(fault_of(std::string(kBase) + text).find(want), std::string::npos)
        << fault_of(std::string(kBase) + text);
  EXPECT_NE(fault_of("name: m\nlayers: 4096\nd_model: 16777216\nd_ff: 16777216\nq_heads: 1\nvocab: 9\n")
                .find("the model has more than 1e18 parameters"),
            std::string::npos);
  EXPECT_NE(fault_of("name: m\nlayers: 9000000000000000000\nd_model: 8\nd_ff: 8\nq_heads: 1\nvocab: 9\n")
                .find("\"layers\" is a whole number from 1 to 4096, not 9000000000000000000"),
            std::string::npos);
  EXPECT_NE(fault_of("name: m\n").find("a model without \"layers\""), std::string::npos);
  EXPECT_NE(fault_of("3\n").find("expected the keys of a model"), std::string::npos);
  EXPECT_EQ(fault_of(kBase), "none");
}

std::string step_fault_of(const StepOptions& options, const std::string& yaml = "") {
  const Result<Module> made = make_step(test::model_or_fail(kBase + yaml), options);
  return made ? std::string("none") : made.error().message;
}

TEST(StepFaults, NameTheOption) {
  const StepOptions fine = test::exact_options();
  EXPECT_EQ(step_fault_of(fine), "none");
  StepOptions options = fine;
  options.sequence = 0;
  EXPECT_EQ(step_fault_of(options), "sequence is 0, expected 1 to 16777216");
  options = fine, options.batch = 0;
  EXPECT_EQ(step_fault_of(options), "batch is 0, expected 1 to 16777216");
  options = fine, options.vocab_tiles = 3;
  EXPECT_EQ(step_fault_of(options), "a sequence of 8 can't be divided into 3 vocabulary tiles");
  options = fine, options.compute_type = ElementType::kS8;
  EXPECT_EQ(step_fault_of(options), "compute type s8, expected bf16, f16, f32 or f64");
  options = fine, options.kind = StepKind::kDecode;
  EXPECT_EQ(step_fault_of(options), "gradients and vocabulary tiles belong to training");
  EXPECT_EQ(step_fault_of(fine, "max_positions: 4\nposition: learned\n"),
            "a sequence of 8 has more positions than the model's 4");
  EXPECT_FALSE(remat_policy("everything"));
}

TEST(StepFaults, NameTheAxis) {
  const auto on_mesh = [](const char* mesh) {
    StepOptions options = test::exact_options();
    options.mesh = *parse_mesh(mesh);
    return step_fault_of(options);
  };
  EXPECT_EQ(on_mesh("fsdp=2"), "none");
  EXPECT_EQ(on_mesh("model=2"),
            "no rule knows the mesh axis 'model': one of data, fsdp, fsdp_transpose, sequence, tensor, "
            "context, expert");
  EXPECT_EQ(on_mesh("fsdp=3"), "the batch of 2 can't be sharded by fsdp=3: it is not a multiple of 3");
  EXPECT_EQ(on_mesh("context=3"),
            "the sequence of 8 can't be sharded by context=3: it is not a multiple of 3");
  EXPECT_EQ(on_mesh("tensor=8"),
            "of embedding, dimension 11 can't be sharded by tensor=8: it is not a multiple of 8");
}

}  // namespace
}  // namespace hlosim
