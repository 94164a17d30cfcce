#include "model/pallas/linear_loss.h"

#include <gtest/gtest.h>

#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr LinearLossProblem kProblem{.tokens = 4096, .hidden = 4096, .vocabulary = 131072};
constexpr LinearLossBlocks kBlocks{.tokens = 1024, .hidden = 1024, .vocabulary = 2048};

KernelCost cost_of(const LinearLossProblem& problem, const LinearLossBlocks& blocks = kBlocks) {
  Result<KernelCost> cost = linear_loss_cost(test::device_or_fail("v7x").config, problem, blocks);
  EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
  return cost ? *cost : KernelCost{};
}

TEST(LinearLoss, ProductsFillTheArrays) {
  const KernelCost cost = cost_of(kProblem);
  EXPECT_EQ(cost.flops.count(), 2 * int64_t{4096} * 4096 * 131072);
  EXPECT_DOUBLE_EQ(cost.mxu_cycles, 4096.0 * 4096 * 131072 / (256.0 * 256 * 2 * 2));
  EXPECT_EQ(cost.steps, 4 * 64 * 4);
  LinearLossProblem gradients = kProblem;
  gradients.gradients = true;
  const KernelCost back = cost_of(gradients);
  EXPECT_EQ(back.flops.count(), 3 * cost.flops.count());
  EXPECT_DOUBLE_EQ(back.mxu_cycles, 3 * cost.mxu_cycles);
  EXPECT_EQ(back.steps, 2 * cost.steps);
  EXPECT_EQ(back.together + back.apart + back.step_overhead + back.waits, back.kernel);
}

TEST(LinearLoss, TheVocabularysEdgeCountsAsABlock) {
  LinearLossProblem problem = kProblem;
  problem.vocabulary = 131072 + 1;
  EXPECT_EQ(cost_of(problem).steps, 4 * 65 * 4);
  EXPECT_GT(cost_of(problem).kernel, cost_of(kProblem).kernel);
}

/// x comes in for every block of the vocabulary, unless one block is all of its columns.
TEST(LinearLoss, AWholeRowOfTokensStays) {
  const int64_t x = 4096 * 4096 * 4, w = int64_t{4096} * 131072 * 2;
  EXPECT_EQ(cost_of(kProblem).read.count(), 64 * x + 4 * w);
  EXPECT_EQ(cost_of(kProblem, {.tokens = 1024, .hidden = 4096, .vocabulary = 1024}).read.count(), x + 4 * w);
}

TEST(LinearLoss, TheBestBlocksFit) {
  const Device device = test::device_or_fail("v7x");
  for (const bool gradients : {false, true}) {
    LinearLossProblem problem = kProblem;
    problem.gradients = gradients;
    const std::optional<LinearLossBlocks> best = best_linear_loss_blocks(device.config, problem);
    ASSERT_TRUE(best);
    EXPECT_TRUE(cost_of(problem, *best).fits());
    EXPECT_LE(cost_of(problem, *best).kernel, cost_of(problem, {1024, 512, 2048}).kernel);
  }
}

TEST(LinearLoss, WhatIsWrongIsSaid) {
  const auto error = [](const LinearLossProblem& problem, const LinearLossBlocks& blocks) {
    const Result<KernelCost> cost = linear_loss_cost(test::device_or_fail("v7x").config, problem, blocks);
    return cost ? std::string() : cost.error().message;
  };
  EXPECT_EQ(error(kProblem, {1024, 100, 2048}), "h_block_size is 100, expected a multiple of 128");
  EXPECT_EQ(error({.tokens = 1000, .hidden = 512, .vocabulary = 512}, {128, 128, 128}),
            "b_block_size is 128, which doesn't divide the 1000 tokens");
  EXPECT_EQ(error({.tokens = 1024, .hidden = 0, .vocabulary = 512}, {128, 128, 128}),
            "loss: hidden dimension 0, expected 1 to 134217728");
}

}  // namespace
}  // namespace hlosim
