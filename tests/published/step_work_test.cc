#include "published/step_work.h"

#include <gtest/gtest.h>

#include <string>

#include "published/axis_links.h"

namespace hlosim {
namespace {

ModelConfig small_model() {
  ModelConfig model;
  model.name = "small";
  model.layers = 4, model.d_model = 512, model.d_ff = 2048;
  model.q_heads = 8, model.kv_heads = 4, model.head_dim = 64, model.vocab = 1024;
  return model;
}

StepOptions options_on(std::vector<MeshAxis> axes) {
  StepOptions options;
  options.mesh.axes = std::move(axes);
  options.batch = 64;
  options.sequence = 512;
  return options;
}

double flops_of(const StepWork& work, bool again) {
  double flops = 0;
  for (const StepPiece& piece : work.pieces)
    if ((piece.name.find("again") != std::string::npos) == again && piece.attention.queries == 0)
      flops += piece.flops();
  return flops;
}

double gathered(const StepWork& work, CollectiveKind kind, std::string_view axis) {
  double bytes = 0;
  for (const StepPiece& piece : work.pieces)
    if (piece.category == StepCategory::kCollective && piece.collective == kind && piece.axes.size() == 1 &&
        piece.axes[0] == axis && piece.part != StepStage::kLoss)
      bytes += piece.bytes * piece.times;
  return bytes;
}

// Six FLOPs a parameter and token, however the mesh cuts the work.
TEST(StepWork, AllDevicesTogetherDoTheModelsProducts) {
  const ModelConfig model = small_model();
  const double tokens = 64 * 512;
  const double expected = 6 * static_cast<double>(count_parameters(model).in_matmuls_per_token) * tokens;
  const std::vector<std::vector<MeshAxis>> meshes = {
      {}, {{"fsdp", 8}}, {{"data", 2}, {"fsdp", 4}}, {{"fsdp", 4}, {"tensor", 2}}, {{"fsdp_transpose", 16}}};
  for (const std::vector<MeshAxis>& axes : meshes) {
    const StepOptions options = options_on(axes);
    const StepWork work = step_work(model, options);
    EXPECT_NEAR(flops_of(work, false) * static_cast<double>(options.mesh.devices()) / expected, 1, 1e-9)
        << axes.size() << " axes";
  }
}

TEST(StepWork, FullRematerializationRepeatsAllButTheLastProduct) {
  const ModelConfig model = small_model();
  StepOptions options = options_on({});
  const double tokens = 64 * 512, d = 512;
  const double attention = d * 512 + 2 * d * 256 + d * 512, wi = 2 * d * 2048;
  EXPECT_NEAR(flops_of(step_work(model, options), true), 2 * tokens * 4 * (attention + wi), 1);
  options.remat = *remat_policy("minimal");
  EXPECT_EQ(flops_of(step_work(model, options), true), 0);
}

// partition.md's table: gathers forward and backward, one scatter; two sums of activations each way.
TEST(StepWork, CollectivesMoveWhatThePatternNeeds) {
  const ModelConfig model = small_model();
  const double weights = 4.0 * (2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 2048) * 2;  // bf16
  const StepWork fsdp = step_work(model, options_on({{"fsdp", 8}}));
  EXPECT_NEAR(gathered(fsdp, CollectiveKind::kAllGather, "fsdp"), 2 * weights, 1);
  EXPECT_NEAR(gathered(fsdp, CollectiveKind::kReduceScatter, "fsdp"), weights, 1);
  EXPECT_EQ(gathered(fsdp, CollectiveKind::kAllReduce, "tensor"), 0);
  StepOptions saved = options_on({{"tensor", 4}});
  saved.remat = *remat_policy("minimal");
  const double stream = 64 * 512 * 512 * 2;
  EXPECT_NEAR(gathered(step_work(model, saved), CollectiveKind::kAllReduce, "tensor"), 4 * 4 * stream, 1);
  EXPECT_NEAR(gathered(step_work(model, options_on({{"tensor", 4}})), CollectiveKind::kAllReduce, "tensor"),
              4 * 5 * stream, 1);
}

TEST(StepWork, ParametersOfADeviceAreItsShare) {
  const ModelConfig model = small_model();
  const auto all = static_cast<double>(count_parameters(model).total);
  EXPECT_NEAR(step_work(model, options_on({})).parameters, all, all * 0.002);
  EXPECT_NEAR(step_work(model, options_on({{"data", 2}, {"fsdp", 8}})).parameters, all / 8, all * 0.002);
}

}  // namespace
}  // namespace hlosim
