// Decode steps with layers in a loop take the time of the same layers written out: caches are updated in
// place, and weights are read where they lie, either way.
#include <gtest/gtest.h>

#include <algorithm>

#include "estimate/estimate.h"
#include "lower/pass.h"
#include "support/folders.h"
#include "support/simulations.h"
#include "workloads/steps.h"

namespace hlosim {
namespace {

ModelConfig example(const std::string& name) {
  return test::model_or_fail(test::file_text(test::source_folder() / "examples/models" / (name + ".yaml")));
}

double seconds_of(const ModelConfig& model, int64_t sequence, bool loops, const Device& device,
                  int64_t tensor = 1) {
  StepOptions options;
  options.kind = StepKind::kDecode;
  options.batch = 16, options.sequence = sequence;
  if (tensor > 1) options.mesh.axes = {{"tensor", tensor}};
  options.param_type = ElementType::kBF16;
  options.scan_layers = loops;
  const Result<Module> module = make_step(model, options);
  EXPECT_TRUE(module) << (module ? "" : render(module.error()));
  EstimateOptions how;
  how.simulate.keep_timeline = false;
  const Result<Estimate> made = estimate(*module, op_table(), device, how);
  EXPECT_TRUE(made) << (made ? "" : render(made.error()));
  return static_cast<double>(made->simulation->totals.makespan.count()) * 1e-12;
}

TEST(DecodeLoops, TakeTheTimeOfTheSameLayersWrittenOut) {
  const Device device = test::device_or_fail("v6e");
  for (const char* name :
       {"llama2-7b", "llama3-8b", "qwen3-8b", "mistral-7b", "gemma2-9b", "maxtext-default-1b"}) {
    ModelConfig model = example(name);
    model.layers = 8;
    for (const int64_t sequence : {512, 2048}) {
      const double loop = seconds_of(model, sequence, true, device),
                   flat = seconds_of(model, sequence, false, device);
      EXPECT_NEAR(loop / flat, 1, 0.05)
          << name << ", " << sequence << ": " << loop << " s and " << flat << " s";
    }
  }
}

void expect_loop_near_flat(const ModelConfig& model, const Device& device, int64_t tensor,
                           double slower = 0.1) {
  const double loop = seconds_of(model, 1024, true, device, tensor),
               flat = seconds_of(model, 1024, false, device, tensor);
  EXPECT_GE(loop / flat, 0.9) << model.name << ", " << tensor;
  EXPECT_LE(loop / flat, 1 + slower) << model.name << ", " << tensor << ": " << loop << " s and " << flat
                                     << " s";
}

/// Experts' weights, those of wide layers and caches of odd heads, on one device and cut over four.
TEST(DecodeLoops, ReadWeightsWhereTheyLie) {
  const Device small = test::device_or_fail("v6e"), large = test::device_or_fail("v5p");
  for (const int64_t tensor : {1, 4}) {
    for (const char* name : {"mixtral-8x7b", "mixtral-8x7b-capacity", "llama3-70b"}) {
      ModelConfig model = example(name);
      model.layers = 6;
      expect_loop_near_flat(model, small, tensor);
    }
    // A ragged-dot reads the weights of groups that have rows; a loop slices those of all experts out for it.
    for (const char* name : {"gpt-oss-20b", "deepseek-v2-lite", "qwen3-30b-a3b"}) {
      ModelConfig model = example(name);
      model.layers = 6;
      expect_loop_near_flat(model, small, tensor, 0.5);
    }
    for (const char* name : {"gpt3-175b", "maxtext-gpt-32b"}) {
      ModelConfig model = example(name);
      model.layers = 6;
      expect_loop_near_flat(model, large, tensor);
    }
  }
}

size_t updates_of(const Module& module, size_t rank) {
  return static_cast<size_t>(std::ranges::count_if(module.instructions, [&](const Instruction& instruction) {
    return instruction.opcode == Opcode::kDynamicUpdateSlice &&
           static_cast<size_t>(instruction.shape->rank()) == rank;
  }));
}

/// The stacked caches [layers, batch, sequence, heads, size] are updated, no part of them is, and results are
/// the same numbers.
TEST(DecodeLoops, ComputeTheSameInPlace) {
  const Device device = test::device_or_fail("v6e");
  for (const char* more :
       {"", "attention: {window: 3, pattern: LG}\n", "moe: {experts: 4, top_k: 2, d_ff: 24}\n"}) {
    const ModelConfig model = test::model_or_fail(
        std::string("name: m\nlayers: 4\nd_model: 16\nd_ff: 24\nq_heads: 4\nkv_heads: 2\nvocab: 11\n") +
        more);
    StepOptions options;
    options.kind = StepKind::kDecode;
    options.batch = 2, options.sequence = 8;
    options.compute_type = options.param_type = ElementType::kF32;
    test::RunningStep written(model, options);
    Module lowered = run_passes(written.module(), default_passes(), {op_table(), device});
    EXPECT_EQ(updates_of(lowered, 4), 0U);
    EXPECT_EQ(updates_of(lowered, 5), *more == 'a' ? 4U : 2U);
    test::RunningStep made(std::move(lowered), model.vocab);
    ASSERT_TRUE(written.ready() && made.ready());
    for (const double position : {0.0, 3.0, 7.0}) {
      std::vector<test::Numbers> inputs = written.random_inputs(4);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (written.name(i) == "position") inputs[i] = {position};
      const std::vector<test::Numbers> want = written.run(inputs), got = made.run(inputs);
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < want.size(); ++i) EXPECT_LT(test::difference(want[i], got[i]), 1e-4) << i;
    }
  }
}

}  // namespace
}  // namespace hlosim
