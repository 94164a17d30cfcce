// Serving steps of models with experts compute on every mesh what they compute on one device.
#include <gtest/gtest.h>

#include "array/compare.h"
#include "ops/op_table.h"
#include "partition_check/partition_check.h"
#include "support/expert_model.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

Mesh mesh_of(std::vector<MeshAxis> axes) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  return mesh;
}

StepOptions step_on(StepKind kind, Mesh mesh) {
  StepOptions options;
  options.kind = kind, options.mesh = std::move(mesh);
  options.batch = 4, options.sequence = 8;
  options.compute_type = options.param_type = ElementType::kF64;
  options.attention = AttentionKernel::kPlain, options.scan_layers = false;
  return options;
}

void expect_sound(const StepOptions& options) {
  const Result<Module> module = make_step(test::small_expert_model(), options);
  ASSERT_TRUE(module) << module.error().message;
  const auto check =
      check_partition(*module, op_table(), {.devices = static_cast<int64_t>(options.mesh.devices())}, {});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->agrees());
}

TEST(ServedExperts, WidthsOverTensorAreSummed) {
  for (const StepKind kind : {StepKind::kDecode, StepKind::kPrefill})
    for (const Mesh& mesh : {mesh_of({{"tensor", 2}}), mesh_of({{"expert", 2}, {"tensor", 2}})})
      expect_sound(step_on(kind, mesh));
}

TEST(ServedExperts, WholeExpertsOverTensorAreSummed) {
  for (const Mesh& mesh : {mesh_of({{"tensor", 4}}), mesh_of({{"expert", 2}, {"tensor", 2}}),
                           mesh_of({{"data", 2}, {"tensor", 2}})}) {
    StepOptions options = step_on(StepKind::kDecode, mesh);
    options.experts_on_tensor = true;
    expect_sound(options);
  }
}

TEST(ServedExperts, TrainingHasNoExpertsOverTensor) {
  StepOptions options = step_on(StepKind::kTrain, mesh_of({{"tensor", 2}}));
  options.experts_on_tensor = true;
  EXPECT_FALSE(make_step(test::small_expert_model(), options));
}

}  // namespace
}  // namespace hlosim
