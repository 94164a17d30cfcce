#include "workloads/model_text.h"

#include <gmock/gmock.h>

#include "workloads/builtin_models.h"

namespace hlosim {
namespace {

SourcePtr source_of(std::string_view text) {
  return std::make_shared<const SourceFile>("m.yaml", std::string(text));
}

TEST(ModelText, ReadsBackAsTheSameModel) {
  ASSERT_GT(builtin_models().size(), 20u);
  for (const BuiltinModel& file : builtin_models()) {
    SCOPED_TRACE(file.name);
    const Result<ModelConfig> model = read_model_config(source_of(file.text));
    ASSERT_TRUE(model);
    const std::string text = model_text(*model);
    const Result<ModelConfig> again = read_model_config(source_of(text));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(model_text(*again), text);
    EXPECT_EQ(count_parameters(*again).total, count_parameters(*model).total);
    EXPECT_EQ(matmul_flops(*again, 2, 8192, true, true), matmul_flops(*model, 2, 8192, true, true));
  }
}

/// Every key that is not at its default is written.
TEST(ModelText, WritesWhatDiffersFromTheDefaults) {
  ModelConfig model;
  model.name = "a: \"b\"";
  model.layers = 2, model.d_model = 64, model.d_ff = 96, model.q_heads = model.kv_heads = 4,
  model.head_dim = 16;
  model.vocab = 128;
  const std::string plain = model_text(model);
  model.attention.latent = LatentAttention{8, 16, 8, 4, 8};
  model.attention.bias = true;
  model.moe = MoeConfig{.experts = 8, .top_k = 2, .d_ff = 32, .shared_experts = 1, .d_ff_shared = 32};
  model.moe->score = MoeConfig::Score::kSigmoid;
  model.moe->dispatch = MoeConfig::Dispatch::kCapacity;
  model.moe->capacity_factor = 1.5;
  const Result<ModelConfig> again = read_model_config(source_of(model_text(model)));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->name, model.name);
  EXPECT_EQ(again->attention.latent->q_rank, 8);
  EXPECT_TRUE(again->attention.bias);
  EXPECT_EQ(again->moe->score, MoeConfig::Score::kSigmoid);
  EXPECT_EQ(again->moe->dispatch, MoeConfig::Dispatch::kCapacity);
  EXPECT_EQ(again->moe->capacity_factor, 1.5);
  EXPECT_THAT(plain, testing::Not(testing::HasSubstr("moe")));
}

}  // namespace
}  // namespace hlosim
