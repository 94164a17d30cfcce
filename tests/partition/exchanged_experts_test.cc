// Training steps whose experts are on several devices compute the loss and the gradients of one device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "array/arguments.h"
#include "array/compare.h"
#include "ops/op_table.h"
#include "partition/partition.h"
#include "partition_check/device_runs.h"
#include "partition_check/partition_check.h"
#include "support/expert_model.h"
#include "support/modules.h"
#include "workloads/maxtext_settings.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

ModelConfig shared_expert_model() {
  ModelConfig model = test::small_expert_model();
  model.moe->shared_experts = 1, model.moe->d_ff_shared = 8;
  return model;
}

StepOptions training_on(std::string_view mesh) {
  StepOptions options;
  if (!mesh.empty()) options.mesh = *parse_mesh(mesh);
  options.batch = 8, options.sequence = 8, options.gradients_only = true;
  options.compute_type = options.param_type = options.grad_type = ElementType::kF64;
  options.attention = AttentionKernel::kPlain;
  options.remat = *remat_policy("full");
  return options;
}

int64_t exchanges_of(const Module& module) {
  return std::count_if(module.instructions.begin(), module.instructions.end(), [](const Instruction& one) {
    return op_table()[one.opcode].name == "ragged-all-to-all";
  });
}

using DeviceArrays = std::vector<Array>;

/// Small numbers, and tokens of the vocabulary.
DeviceArrays exchange_inputs(const DevicesRun& run, MemoryPool& pool) {
  DeviceArrays inputs;
  for (const ShapeRef shape : run.parameters()) {
    Array array = random_array(shape, 3, inputs.size(), pool);
    for (int64_t i = 0; i < array.count(); ++i)
      if (shape->element_type == ElementType::kS32)
        array.as<int32_t>()[i] = std::abs(array.as<int32_t>()[i] % 12);
    inputs.push_back(std::move(array));
  }
  return inputs;
}

/// A step's results on its first device, and the module that their shapes belong to.
struct ExchangeResults {
  std::unique_ptr<Module> module;
  DeviceArrays arrays;
};

/// Regions run on all devices, and everything else is whole on each.
Result<Module> on_all_devices(const ModelConfig& model, const StepOptions& options) {
  Result<Module> module = make_step(model, options);
  const int64_t devices = options.mesh.devices();
  if (!module || devices < 2) return module;
  Result<Partitioned> whole = partition(*module, op_table(), {.devices = devices, .replicate_all = true});
  if (!whole) return tl::unexpected(whole.error());
  return std::move(whole->module);
}

ExchangeResults exchange_results(const ModelConfig& model, const StepOptions& options, MemoryPool& pool) {
  ExchangeResults made;
  Result<Module> module = on_all_devices(model, options);
  EXPECT_TRUE(module) << (module ? "" : render(module.error()));
  if (!module) return made;
  made.module = std::make_unique<Module>(std::move(*module));
  const int64_t devices = std::max<int64_t>(options.mesh.devices(), 1);
  DevicesRun run(*made.module, op_table(), devices, pool);
  const Result<void> ready = run.prepare(int64_t{1} << 30);
  EXPECT_TRUE(ready) << (ready ? "" : render(ready.error()));
  if (!ready) return made;
  Result<std::vector<DeviceArrays>> results =
      run.run(std::vector<DeviceArrays>(static_cast<size_t>(devices), exchange_inputs(run, pool)));
  EXPECT_TRUE(results) << (results ? "" : render(results.error()));
  if (results) made.arrays = std::move(results->front());
  return made;
}

void expect_as_on_one_device(const ModelConfig& model, const StepOptions& options) {
  MemoryPool pool;
  StepOptions alone = options;
  alone.mesh = {}, alone.ragged_buffer_factor = 0, alone.ring_of_experts = false;
  const ExchangeResults want = exchange_results(model, alone, pool),
                        got = exchange_results(model, options, pool);
  ASSERT_EQ(want.arrays.size(), got.arrays.size());
  ASSERT_GT(want.arrays.size(), 10U);
  for (size_t i = 0; i < want.arrays.size(); ++i) {
    const Comparison comparison =
        compare(got.arrays[i], want.arrays[i], tolerance_of_sums(want.arrays[i], pool));
    EXPECT_EQ(comparison.outside, 0) << "result " << i << ": " << comparison.max_abs;
  }
}

TEST(ExchangedExperts, ComputeWhatOneDeviceDoes) {
  for (const char* mesh : {"expert=2", "expert=8", "data=2,expert=2", "fsdp=2,expert=4", "context=2,expert=2",
                           "tensor=2,expert=2", "fsdp=2,tensor=2,expert=2"}) {
    SCOPED_TRACE(mesh);
    const StepOptions options = training_on(mesh);
    const Result<Module> module = make_step(shared_expert_model(), options);
    ASSERT_TRUE(module) << module.error().message;
    // Forward, once more for the gradients, and theirs: there and back each.
    EXPECT_EQ(exchanges_of(*module), 6);
    expect_as_on_one_device(shared_expert_model(), options);
  }
}

/// Devices along an axis between slices have numbers that don't follow each other.
TEST(ExchangedExperts, MayBeOnSeveralSlices) {
  for (const auto& [inside, between] : {std::pair("fsdp=4", "expert=2"), {"fsdp=2,expert=2", "expert=2"}}) {
    StepOptions options = training_on("");
    options.mesh = mesh_over_slices(*parse_mesh(inside), *parse_mesh(between));
    ASSERT_FALSE(options.mesh.device_order.empty());
    expect_as_on_one_device(shared_expert_model(), options);
  }
}

TEST(ExchangedExperts, HaveBiases) {
  ModelConfig model = shared_expert_model();
  model.moe->bias = true;
  for (const char* mesh : {"expert=4", "tensor=2,expert=2"})
    expect_as_on_one_device(model, training_on(mesh));
}

TEST(ExchangedExperts, MayBeShardedOverFsdpToo) {
  StepOptions options = training_on("fsdp=2,expert=2");
  options.experts_on_fsdp = true;
  expect_as_on_one_device(shared_expert_model(), options);
}

TEST(ExchangedExperts, SaveTheirRows) {
  StepOptions options = training_on("fsdp=2,expert=2");
  options.remat = *remat_policy("minimal");
  expect_as_on_one_device(shared_expert_model(), options);
}

TEST(ExchangedExperts, ComputeWhatTheRingDoes) {
  StepOptions options = training_on("fsdp=2,expert=2");
  options.ring_of_experts = true;
  const Result<Module> module = make_step(shared_expert_model(), options);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(exchanges_of(*module), 0);
  expect_as_on_one_device(shared_expert_model(), options);
}

/// Tokens that are dealt out evenly need no more than their mean.
TEST(ExchangedExperts, NeedTheMeanAloneWhereRoutingIsBalanced) {
  ModelConfig model = shared_expert_model();
  model.moe->random_routing = true;
  StepOptions options = training_on("expert=4");
  options.ragged_buffer_factor = 1;
  expect_as_on_one_device(model, options);
}

/// What has no room is dropped: no more rows are sent than can be received.
TEST(ExchangedExperts, DropRowsWithoutRoom) {
  MemoryPool pool;
  StepOptions options = training_on("expert=4");
  const ExchangeResults whole = exchange_results(shared_expert_model(), options, pool);
  options.ragged_buffer_factor = 0.5;
  const ExchangeResults dropped = exchange_results(shared_expert_model(), options, pool);
  ASSERT_EQ(whole.arrays.size(), dropped.arrays.size());
  ASSERT_FALSE(whole.arrays.empty());
  const Comparison losses =
      compare(dropped.arrays[0], whole.arrays[0], tolerance_of_sums(whole.arrays[0], pool));
  EXPECT_NE(losses.outside, 0);
}

TEST(ExchangedExperts, ArePartitioned) {
  for (const char* mesh : {"expert=4", "fsdp=2,tensor=2,expert=2"}) {
    const StepOptions options = training_on(mesh);
    const Result<Module> module = make_step(shared_expert_model(), options);
    ASSERT_TRUE(module) << module.error().message;
    const auto check = check_partition(*module, op_table(), {.devices = options.mesh.devices()}, {});
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_TRUE(check->agrees());
  }
}

}  // namespace
}  // namespace hlosim
