// Laws of experts on several devices that exchange rows: each device has the same tokens, whatever the axis.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "estimate/estimate.h"
#include "hlo/op_def.h"
#include "ops/collective_groups.h"
#include "ops/work.h"
#include "support/folders.h"
#include "support/simulations.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

constexpr int64_t kTokens = 2048, kTopK = 8, kWidth = 2048, kLayers = 2;

/// Two layers of a model with 128 experts, of which a token has eight; one sequence a device.
Module step_with_experts(std::string_view mesh, void (*change)(StepOptions&) = nullptr) {
  const auto file = test::source_folder() / "examples/models/qwen3-30b-a3b.yaml";
  Result<ModelConfig> model =
      read_model_config(std::make_shared<const SourceFile>(file.string(), test::file_text(file)));
  EXPECT_TRUE(model) << render(model.error());
  EXPECT_TRUE(model->moe && model->moe->top_k == kTopK && model->d_model == kWidth);
  model->layers = kLayers;
  StepOptions options;
  options.mesh = *parse_mesh(mesh);
  options.batch = options.mesh.devices(), options.sequence = kTokens;
  if (change) change(options);
  Result<Module> module = make_step(*model, options);
  EXPECT_TRUE(module) << render(module.error());
  return std::move(*module);
}

/// FLOPs of grouped products of one layer.
double grouped_flops(Module& module) {
  double flops = 0;
  for (const Instruction& one : module.instructions) {
    if (op_table()[one.opcode].name != "ragged-dot") continue;
    for (const MatmulWork& part :
         work_of(OpContext(module, module.shapes(), one, op_table(), nullptr)).matmuls)
      flops += 2.0 * static_cast<double>(part.batch) * static_cast<double>(part.m) *
               static_cast<double>(part.n) * static_cast<double>(part.k);
  }
  return flops;
}

/// Bytes that a device sends in the exchanges of one layer.
int64_t exchanged_bytes(Module& module, int64_t members) {
  int64_t sent = 0;
  for (const Instruction& one : module.instructions) {
    if (op_table()[one.opcode].name != "ragged-all-to-all") continue;
    const Work work = work_of(OpContext(module, module.shapes(), one, op_table(), nullptr));
    sent += sent_per_member(work.collective->kind, members, dense_bytes(work.collective->payload)).count();
  }
  return sent;
}

TEST(ExpertParallelLaws, ProductsAreThoseOfTheMean) {
  Module alone = step_with_experts("fsdp=8");
  const double want = grouped_flops(alone);
  EXPECT_GT(want, 0);
  for (const char* mesh : {"fsdp=4,expert=2", "fsdp=2,expert=4", "expert=8", "fsdp=2,expert=16"}) {
    Module module = step_with_experts(mesh);
    EXPECT_NEAR(grouped_flops(module), want, 1e-3 * want) << mesh;
  }
  Module ring = step_with_experts("fsdp=2,expert=4", [](StepOptions& step) { step.ring_of_experts = true; });
  EXPECT_NEAR(grouped_flops(ring), want, 1e-3 * want);
}

/// Twice forward, twice backward, and as full rematerialization runs the layer again, twice more.
TEST(ExpertParallelLaws, EveryExchangeSendsTheRowsOfATokensExperts) {
  constexpr int64_t kRows = kTokens * kTopK * kWidth * 2;  // bytes in bf16
  for (const int64_t members : {2, 4, 8}) {
    const std::string mesh = fmt::format("fsdp=2,expert={}", members);
    const int64_t want = 6 * kRows / members * (members - 1);
    Module worst = step_with_experts(mesh);
    EXPECT_EQ(exchanged_bytes(worst, members), want) << members;
    Module mean = step_with_experts(mesh, [](StepOptions& step) { step.ragged_buffer_factor = 1; });
    EXPECT_EQ(exchanged_bytes(mean, members), want) << members;
  }
}

/// Picoseconds of grouped products, or of everything but waiting.
double time_of_products(std::string_view mesh, const Device& device) {
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  options.mesh.emplace().partitions = parse_mesh(mesh)->devices();
  const Result<Estimate> estimate = hlosim::estimate(step_with_experts(mesh), op_table(), device, options);
  EXPECT_TRUE(estimate) << render(estimate.error());
  double time = 0;
  for (const InstructionRecord& record : estimate->simulation->instructions)
    if (op_table()[(*estimate->module)[record.id].opcode].name == "ragged-dot")
      time += static_cast<double>(record.self_time.count());
  return time;
}

/// Groups of the same number of rows on each device: fewer of them, with more rows. Their weights are read
/// less often.
TEST(ExpertParallelLaws, ProductsTakeNoLonger) {
  for (const char* device : {"v5p", "v7x"}) {
    const double alone = time_of_products("fsdp=8", test::device_or_fail(device));
    EXPECT_GT(alone, 0);
    double before = alone;
    for (const char* mesh : {"fsdp=4,expert=2", "fsdp=2,expert=4", "expert=8"}) {
      const double time = time_of_products(mesh, test::device_or_fail(device));
      EXPECT_LE(time, 1.03 * before) << mesh << " on " << device;
      EXPECT_GE(time, 0.5 * alone) << mesh << " on " << device;
      before = time;
    }
  }
}

}  // namespace
}  // namespace hlosim
