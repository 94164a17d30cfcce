#include "model/pallas/attention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr AttentionPass kPasses[] = {AttentionPass::kForward, AttentionPass::kBackward,
                                     AttentionPass::kBackwardKv, AttentionPass::kBackwardQ};

AttentionProblem square(int64_t length, int64_t head_size = 128) {
  return {.batch = 2,
          .heads = 8,
          .kv_heads = 8,
          .queries = length,
          .keys = length,
          .head_size = head_size,
          .value_size = head_size};
}
constexpr AttentionBlocks kBlocks{.q = 1024, .kv = 1024, .kv_compute = 512};

KernelCost cost_of(const AttentionProblem& problem, const AttentionBlocks& blocks = kBlocks,
                   AttentionPass pass = AttentionPass::kForward, const std::string& device = "v6e") {
  Result<KernelCost> cost = attention_cost(test::device_or_fail(device).config, pass, problem, blocks);
  EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
  return cost ? *cost : KernelCost{};
}

/// Block by block, position by position.
BlockCount counted_slowly(const AttentionProblem& problem, const AttentionBlocks& blocks) {
  BlockCount count;
  for (int64_t row = 0; row < problem.queries; row += blocks.q)
    for (int64_t column = 0; column < problem.keys; column += blocks.kv) {
      int64_t seen = 0;
      for (int64_t q = row; q < row + blocks.q; ++q)
        for (int64_t k = column; k < column + blocks.kv; ++k)
          seen += (!problem.causal || k <= q) && (!problem.window || k > q - *problem.window);
      ++count.all;
      count.computed += seen > 0;
      count.masked += seen > 0 && seen < blocks.q * blocks.kv;
    }
  return count;
}

TEST(Attention, BlocksAreCountedAsPositionsSay) {
  for (const int64_t queries : {4, 8, 12})
    for (const int64_t keys : {4, 8, 24})
      for (const int64_t q : {1, 2, 4})
        for (const int64_t kv : {1, 2, 4})
          for (const int64_t window : {0, 1, 2, 3, 5, 30})
            for (const bool causal : {false, true}) {
              AttentionProblem problem{.queries = queries, .keys = keys, .causal = causal};
              if (window > 0) problem.window = window;
              const AttentionBlocks blocks{.q = q, .kv = kv, .kv_compute = kv};
              const BlockCount fast = count_blocks(problem, blocks);
              const BlockCount slow = counted_slowly(problem, blocks);
              EXPECT_EQ(fast.all, slow.all);
              EXPECT_EQ(fast.computed, slow.computed)
                  << queries << " " << keys << " " << q << " " << kv << " " << window << " " << causal;
              EXPECT_EQ(fast.masked, slow.masked)
                  << queries << " " << keys << " " << q << " " << kv << " " << window << " " << causal;
            }
}

TEST(Attention, ProductsAreThoseOfTheBlocksThatAreComputed) {
  AttentionProblem problem = square(4096);
  const KernelCost all = cost_of(problem);
  // Two products of 4096 x 4096 x 128, for 16 heads; each 256-wide array takes two rows a cycle.
  EXPECT_EQ(all.flops.count(), 2 * 2 * int64_t{4096} * 4096 * 128 * 16);
  EXPECT_DOUBLE_EQ(all.mxu_cycles, 2 * 4096.0 * 4096 / 256 / (2 * 2) * 16);
  EXPECT_EQ(all.steps, 16 * 16);
  problem.causal = true;
  const KernelCost causal = cost_of(problem);
  EXPECT_EQ(causal.flops.count() * 16, all.flops.count() * 10);  // 10 of 16 blocks
  EXPECT_EQ(causal.skipped, 6 * 16);
  EXPECT_EQ(causal.masked, 4 * 16);
  EXPECT_EQ(causal.steps, 10 * 16);
  EXPECT_LT(causal.read, all.read);  // blocks that are skipped aren't fetched
}

TEST(Attention, HeadSizesFillTheArrayOrNot) {
  EXPECT_EQ(cost_of(square(4096, 64)).mxu_cycles, cost_of(square(4096, 128)).mxu_cycles);
  EXPECT_EQ(cost_of(square(4096, 128)).mxu_cycles, cost_of(square(4096, 256)).mxu_cycles);
  const auto on_small = [](int64_t size) {
    return cost_of(square(4096, size), kBlocks, AttentionPass::kForward, "v5p").mxu_cycles;
  };
  EXPECT_EQ(on_small(64), on_small(128));
  EXPECT_EQ(2 * on_small(128), on_small(256));
}

TEST(Attention, PartsAddUp) {
  for (const AttentionPass pass : kPasses)
    for (const bool causal : {false, true}) {
      AttentionProblem problem = square(4096);
      problem.causal = causal;
      const KernelCost cost = cost_of(problem, kBlocks, pass);
      EXPECT_EQ(cost.together + cost.apart + cost.step_overhead + cost.waits, cost.kernel);
      EXPECT_GE(cost.together, cost.busy[index_of(Unit::kMxu)]);
      EXPECT_GE(cost.kernel, cost.busy[index_of(memory_unit(0))]);
      EXPECT_EQ(cost.time, cost.kernel);
    }
}

/// Each of these is more work than without.
TEST(Attention, OptionsCost) {
  for (const AttentionPass pass : kPasses) {
    const AttentionProblem plain = square(4096);
    const Picoseconds time = cost_of(plain, kBlocks, pass).kernel;
    const auto slower = [&](auto&& change) {
      AttentionProblem problem = plain;
      change(problem);
      return cost_of(problem, kBlocks, pass).kernel > time;
    };
    EXPECT_TRUE(slower([](AttentionProblem& p) { p.soft_cap = true; }));
    EXPECT_TRUE(slower([](AttentionProblem& p) { p.segments = true; }));
    EXPECT_TRUE(slower([](AttentionProblem& p) { p.bias = ElementType::kF32; }));
    EXPECT_TRUE(slower([](AttentionProblem& p) { p.base2 = false; }));
    AttentionProblem wide = plain, exact = plain;
    wide.type = exact.type = ElementType::kF32;
    exact.precision = MatmulPrecision::kHighest;
    EXPECT_GT(cost_of(exact, kBlocks, pass).mxu_cycles, 5 * cost_of(wide, kBlocks, pass).mxu_cycles);
    EXPECT_FALSE(slower([](AttentionProblem& p) { p.known_maximum = true; }));
    EXPECT_FALSE(slower([](AttentionProblem& p) { p.causal = true, p.window = 1024; }));
  }
  AttentionProblem kept = square(4096);
  kept.residuals = true;
  EXPECT_EQ((cost_of(kept).written - cost_of(square(4096)).written).count(), 16 * 4096 * 2 * 128 * 4);
}

TEST(Attention, HeadsShareKeysOfOneBlock) {
  AttentionProblem grouped = square(1024);
  grouped.kv_heads = 2;
  const KernelCost shared = cost_of(grouped), own = cost_of(square(1024));
  // k and v of 16 heads, or of 4: they stay while the heads of their group go by.
  EXPECT_EQ((own.read - shared.read).count(), 12 * 1024 * 2 * 128 * 2);
  grouped = square(4096), grouped.kv_heads = 2;
  EXPECT_EQ(cost_of(grouped).read, cost_of(square(4096)).read);  // they stream by for each head
}

TEST(Attention, SmallerStepsCostMore) {
  const AttentionProblem problem = square(4096);
  EXPECT_GT(cost_of(problem, {.q = 512, .kv = 1024, .kv_compute = 512}).kernel, cost_of(problem).kernel);
  EXPECT_GT(cost_of(problem, {.q = 1024, .kv = 512, .kv_compute = 512}).kernel, cost_of(problem).kernel);
  EXPECT_GT(cost_of(problem, {.q = 1024, .kv = 1024, .kv_compute = 128}).kernel, cost_of(problem).kernel);
}

TEST(Attention, TwoCoresShareHeadsForwardAndTheBatchBackward) {
  AttentionProblem problem = square(4096);
  EXPECT_EQ(cost_of(problem, kBlocks, AttentionPass::kForward, "v5p").cores, 2);
  EXPECT_EQ(cost_of(problem, kBlocks, AttentionPass::kBackward, "v5p").cores, 2);
  problem.batch = 1;
  EXPECT_EQ(cost_of(problem, kBlocks, AttentionPass::kForward, "v5p").cores, 2);
  EXPECT_EQ(cost_of(problem, kBlocks, AttentionPass::kBackward, "v5p").cores, 1);
}

TEST(Attention, TheBestBlocksFitAndNoneThatFitIsBetter) {
  const Device device = test::device_or_fail("v7x");
  for (const AttentionPass pass : kPasses)
    for (const bool causal : {false, true}) {
      AttentionProblem problem = square(4096);
      problem.causal = causal;
      const std::optional<AttentionBlocks> best = best_attention_blocks(device.config, pass, problem);
      ASSERT_TRUE(best);
      const KernelCost least = cost_of(problem, *best, pass, "v7x");
      EXPECT_TRUE(least.fits());
      for (const int64_t q : {128, 512, 1024, 2048})
        for (const int64_t kv : {512, 1024, 2048}) {
          const KernelCost other = cost_of(problem, {.q = q, .kv = kv, .kv_compute = 512}, pass, "v7x");
          if (other.fits()) {
            EXPECT_LE(least.kernel, other.kernel) << q << " " << kv;
          }
        }
    }
  AttentionProblem odd = square(4096);
  odd.queries = 1000;
  EXPECT_FALSE(best_attention_blocks(device.config, AttentionPass::kForward, odd));
}

TEST(Attention, WhatIsWrongIsSaid) {
  const auto error = [](const AttentionProblem& problem, const AttentionBlocks& blocks) {
    const Result<KernelCost> cost =
        attention_cost(test::device_or_fail("v6e").config, AttentionPass::kForward, problem, blocks);
    return cost ? std::string() : cost.error().message;
  };
  EXPECT_EQ(error(square(4096), {.q = 100, .kv = 1024, .kv_compute = 1024}),
            "block_q is 100, expected a multiple of 128");
  EXPECT_EQ(error(square(4096), {.q = 1024, .kv = 1536, .kv_compute = 512}),
            "block_kv is 1536, which doesn't divide the 4096 keys");
  EXPECT_EQ(error(square(4096), {.q = 1024, .kv = 1024, .kv_compute = 384}),
            "block_kv_compute is 384, which doesn't divide the 1024 keys of block_kv");
  AttentionProblem problem = square(4096);
  problem.kv_heads = 3;
  EXPECT_EQ(error(problem, kBlocks), "attention: 8 heads can't share 3 heads of k and v evenly");
  problem = square(4096), problem.queries = int64_t{1} << 30;
  EXPECT_EQ(error(problem, kBlocks), "attention: queries 1073741824, expected 1 to 16777216");
  problem = square(4096), problem.head_size = 0;
  EXPECT_EQ(error(problem, kBlocks), "attention: head size 0, expected 1 to 16384");
}

/// bf16[2,4096,8,128]: rows stay rows; the compiler reads and writes each array once more.
TEST(Attention, PassesAround) {
  const Device device = test::device_or_fail("v6e");
  const auto bytes = [&](AttentionPass pass, const AttentionProblem& problem, const AttentionBlocks& blocks) {
    double sum = 0;
    for (const KernelPass& one : attention_passes(device.config, pass, problem, blocks))
      sum += static_cast<double>((one.read + one.written).count());
    return sum / (2.0 * 4096 * 8 * static_cast<double>(problem.head_size) * 2);
  };
  EXPECT_DOUBLE_EQ(bytes(AttentionPass::kForward, square(4096), kBlocks), 8);
  // A head size of half the lanes lies sequence minor: only the factor and the result are left.
  AttentionBlocks minor = kBlocks;
  minor.q_sequence_minor = minor.k_sequence_minor = minor.v_sequence_minor = true;
  EXPECT_DOUBLE_EQ(bytes(AttentionPass::kForward, square(4096, 64), minor), 2 + 3);
  EXPECT_DOUBLE_EQ(bytes(AttentionPass::kForward, square(4096, 64), kBlocks), 2 + 3 * 3 + 3);
  AttentionProblem kept = square(4096);
  kept.residuals = true;
  EXPECT_GT(bytes(AttentionPass::kForward, kept, kBlocks), 8 + 2 * 2 * 1.4);
}

TEST(Attention, DeviceKeysSayWhatStepsEndsAndOverlapTake) {
  const DeviceConfig before = test::device_or_fail("v6e").config;
  const auto cost = [](const DeviceConfig& device) {
    return *attention_cost(device, AttentionPass::kForward, square(4096), kBlocks);
  };
  const KernelCost base = cost(before);
  DeviceConfig device = before;
  device.overhead.grid_step += Picoseconds(1000);
  EXPECT_NEAR(static_cast<double>((cost(device).step_overhead - base.step_overhead).count()),
              1000.0 * static_cast<double>(base.steps), 1);
  device = before;
  device.kernel.block_end *= 2;
  EXPECT_NEAR(static_cast<double>(cost(device).apart.count()), 2.0 * static_cast<double>(base.apart.count()),
              2);
  device = before;
  device.kernel.overlap = 1;  // one after the other
  const Picoseconds vector = std::max(
      {base.busy[index_of(Unit::kVpu)], base.busy[index_of(Unit::kEup)], base.busy[index_of(Unit::kXlu)]});
  EXPECT_NEAR(static_cast<double>(cost(device).together.count()),
              static_cast<double>((base.busy[index_of(Unit::kMxu)] + vector).count()), 4);
  device.kernel.overlap = 3;
  EXPECT_LT(cost(device).together, base.together);
  EXPECT_GE(cost(device).together, base.busy[index_of(Unit::kMxu)]);
}

}  // namespace
}  // namespace hlosim
