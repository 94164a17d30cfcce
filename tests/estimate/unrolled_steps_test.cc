// Steps with their layers written out, against the same as loops.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "estimate/estimate.h"
#include "support/simulations.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

struct GatherUse {
  int64_t gathers = 0;      // executions
  Bytes gathered{}, hbm{};  // payloads of all executions; the peak
};

GatherUse use_of(StepOptions options) {
  const auto source = std::make_shared<const SourceFile>(
      "model.yaml",
      "name: small\nlayers: 4\nd_model: 1024\nd_ff: 3072\nq_heads: 8\nkv_heads: 4\nvocab: 8192\n");
  const Result<ModelConfig> model = read_model_config(source);
  EXPECT_TRUE(model);
  options.mesh = *parse_mesh("fsdp=8");
  options.batch = 32, options.sequence = 1024;
  const Result<Module> module = make_step(*model, options);
  EXPECT_TRUE(module);
  EstimateOptions how;
  how.simulate.keep_timeline = false;
  const Result<Estimate> ran = hlosim::estimate(*module, op_table(), test::device_or_fail("v6e"), how);
  EXPECT_TRUE(ran);
  GatherUse run;
  for (const TransferRecord& transfer : ran->simulation->transfers) {
    const Instruction& start = (*ran->module)[transfer.start_instruction];
    if (!start.name.starts_with("all-gather")) continue;
    run.gathers += transfer.executions;
    run.gathered += transfer.bytes * transfer.executions;
  }
  for (const SpaceOccupancy& space : ran->occupancy.spaces)
    if (space.number == kDefaultMemorySpace) run.hbm = space.peak;
  return run;
}

/// jax.checkpoint keeps what it computes again apart from the first time: parameters that are gathered for
/// the forward pass are gathered again for the backward pass, not kept in between. In whatever type they are
/// stored: without a conversion the gathered value itself would be shared.
TEST(UnrolledSteps, GatherForEachPassAsLoopsDo) {
  for (const ElementType stored : {ElementType::kF32, ElementType::kBF16}) {
    StepOptions options;
    options.param_type = stored;
    const GatherUse loop = use_of(options);
    options.scan_layers = false;
    const GatherUse unrolled = use_of(options);
    EXPECT_GT(loop.gathers, 50);
    EXPECT_EQ(unrolled.gathers, loop.gathers) << to_text(stored);
    EXPECT_EQ(unrolled.gathered, loop.gathered) << to_text(stored);
    EXPECT_LT(unrolled.hbm * 2, loop.hbm * 3) << to_text(stored);
  }
}

}  // namespace
}  // namespace hlosim
