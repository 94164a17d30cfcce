#include "model/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/window_config.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Small numbers for which every block size is worth trying.
struct Case {
  DeviceConfig device;
  std::array<DmaChannel, kDmaChannels> channels{};
  MatmulWork work;
  MatmulRate rate;
  PipelineTask task;

  PipelineModel model() const { return PipelineModel(Core(device), channels); }
};

Case make_case(std::mt19937& random, int64_t cores) {
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Case c;
  c.device = test::device_or_fail("v5e").config;
  c.device.cores = cores;
  c.device.vmem.scoped_limit = Bytes(number(1, 8) << 20);
  const double rate = 1e12 / 737e9 * static_cast<double>(number(1, 20));
  c.channels[0] = {
      {.total = rate}, static_cast<double>(number(0, 1'000'000)), static_cast<double>(number(0, 500'000))};
  c.work.batch = number(0, 2) == 0 ? number(1, 6) : 1;
  c.work.m = number(1, 4000), c.work.n = number(1, 4000), c.work.k = number(1, 4000);
  c.work.lhs = c.work.rhs = ElementType::kBF16;
  c.rate = *matmul_rate(c.device.mxu, c.work.lhs, c.work.rhs, c.work.precision);
  const auto bytes = [&](int64_t rows, int64_t columns) {
    return 2.0 * static_cast<double>(c.work.batch * rows * columns);
  };
  c.task.lhs = {bytes(c.work.m, c.work.k), static_cast<int8_t>(number(0, 9) == 0 ? -1 : 0)};
  c.task.rhs = {bytes(c.work.k, c.work.n), 0};
  c.task.other.out[0] = bytes(c.work.m, c.work.n);
  c.task.other_bytes = c.task.other.out[0];
  c.task.vector = static_cast<double>(number(0, 100'000'000));
  c.task.lhs_convert = static_cast<double>(number(0, 1'000'000));
  return c;
}

/// Walks over every step: a block is fetched when it differs from the one before.
double step_by_step(const Case& c, const PipelinePlan& plan) {
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  const double cores = count(c.device.cores);
  const Blocks& blocks = plan.blocks;
  double lhs_share = c.task.lhs.bytes, rhs_share = c.task.rhs.bytes;
  if (plan.split == 'b' || plan.split == 'm') lhs_share /= cores;
  if (plan.split == 'b' || plan.split == 'n') rhs_share /= cores;
  const double lhs = lhs_share / count(blocks.batch * blocks.m * blocks.k);
  const double rhs = rhs_share / count(blocks.batch * blocks.n * blocks.k);
  const double out = c.task.other.out[0] / cores / count(blocks.batch * blocks.m * blocks.n);
  struct Index {
    int64_t b, m, n, k;
  };
  std::vector<Index> order;
  const int64_t outer = plan.rows_outside ? blocks.m : blocks.n,
                inner = plan.rows_outside ? blocks.n : blocks.m;
  for (int64_t b = 0; b < blocks.batch; ++b)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        for (int64_t k = 0; k < blocks.k; ++k)
          order.push_back(plan.rows_outside ? Index{b, o, i, k} : Index{b, i, o, k});
  const DmaChannel& channel = c.channels[0];
  const auto dma = [&](double in, double outgoing) {
    double time = (in + outgoing) * channel.bus.total;
    if (in > 0) time = std::max(time, in * channel.bus.total + channel.read_latency);
    if (outgoing > 0) time = std::max(time, outgoing * channel.bus.total + channel.write_latency);
    return time;
  };
  const auto fetched = [&](size_t i) {
    const Index& now = order[i];
    const bool first = i == 0;
    const bool new_lhs =
        first || order[i - 1].b != now.b || order[i - 1].m != now.m || order[i - 1].k != now.k;
    const bool new_rhs =
        first || order[i - 1].b != now.b || order[i - 1].n != now.n || order[i - 1].k != now.k;
    return (new_lhs && c.task.lhs.channel >= 0 ? lhs : 0) + (new_rhs ? rhs : 0);
  };
  double time = dma(fetched(0), 0) + plan.step_work + dma(0, out);
  // While step i - 1 works, i comes in and what is finished goes out; it was asked for before that.
  for (size_t i = 1; i < order.size(); ++i)
    time += side_by_side(plan.step_work, (fetched(i) + (order[i].k == 0 ? out : 0)) * channel.bus.total,
                         c.device.dma.overlap);
  return time;
}

TEST(Pipeline, TakesTheTimeOfItsStepsOneByOne) {
  std::mt19937 random(1);
  int with_parts = 0, rows_outside = 0;
  for (int i = 0; i < 400; ++i) {
    const Case c = make_case(random, i % 3 == 0 ? 2 : 1);
    PipelineTask task = c.task;
    task.matmul = &c.work, task.rate = &c.rate;
    const PipelinePlan plan = c.model().plan(task);
    if (plan.steps > 100'000) continue;
    with_parts += plan.blocks.k > 1, rows_outside += plan.rows_outside;
    EXPECT_NEAR(plan.time, step_by_step(c, plan), 1e-6 * plan.time);
    EXPECT_EQ(plan.steps, plan.blocks.batch * plan.blocks.m * plan.blocks.n * plan.blocks.k);
  }
  EXPECT_GT(with_parts, 10);
  EXPECT_GT(rows_outside, 10);
}

TEST(Pipeline, BlocksFitAndNothingTakesLongerThanTheWhole) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const Case c = make_case(random, i % 2 + 1);
    PipelineTask task = c.task;
    task.matmul = &c.work, task.rate = &c.rate;
    const PipelinePlan plan = c.model().plan(task);
    EXPECT_LE(plan.vmem, static_cast<double>(c.device.vmem.scoped_limit.count()));
    EXPECT_GE(plan.time, plan.mxu);
    EXPECT_GE(plan.time * 1.000001, plan.vector);
    const double cores = static_cast<double>(c.device.cores);
    double moved = task.rhs.bytes * plan.rhs_times + task.other.out[0];
    if (task.lhs.channel >= 0) moved += task.lhs.bytes * plan.lhs_times;
    EXPECT_GE(plan.time * 1.000001, moved / cores * c.channels[0].bus.total);
    EXPECT_GE(plan.lhs_times, 1);
    EXPECT_GE(plan.rhs_times, 1);
  }
}

TEST(Pipeline, MoreOfAnythingIsNeverSlower) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Case c = make_case(random, i % 2 + 1);
    const auto time = [](const Case& of) {
      PipelineTask task = of.task;
      task.matmul = &of.work, task.rate = &of.rate;
      return of.model().plan(task).time;
    };
    const double before = time(c) * 1.000001;
    Case better = c;
    better.channels[0].bus.total /= 1.5;
    EXPECT_LE(time(better), before) << "HBM";
    better = c;
    better.channels[0].read_latency /= 2;
    EXPECT_LE(time(better), before) << "latency";
    better = c;
    better.device.vmem.scoped_limit = Bytes(c.device.vmem.scoped_limit.count() + (3 << 20));
    EXPECT_LE(time(better), before) << "VMEM";
    better = c;
    better.device.mxu.count *= 2;
    EXPECT_LE(time(better), before) << "MXUs";
    better = c;
    better.device.clock = Hertz(c.device.clock.count() * 1.3);
    EXPECT_LE(time(better), before) << "clock";
    better = c;
    better.device.dma.overlap = 100;
    EXPECT_LE(time(better), before) << "overlap";
  }
}

TEST(SideBySide, LiesBetweenTheLongerOneAndBothInTurn) {
  for (const double exponent : {1.0, 2.0, 3.5, 4.0, 100.0}) {
    EXPECT_NEAR(side_by_side(8, 8, exponent), 8 * std::pow(2, 1 / exponent), 1e-9) << exponent;
    EXPECT_EQ(side_by_side(8, 0, exponent), 8) << exponent;
    EXPECT_EQ(side_by_side(0, 0, exponent), 0) << exponent;
    for (const double shorter : {0.5, 2.0, 7.0}) {
      const double both = side_by_side(8, shorter, exponent);
      EXPECT_DOUBLE_EQ(both, side_by_side(shorter, 8, exponent));
      EXPECT_GE(both, 8) << exponent;
      EXPECT_LE(both, 8 + shorter + 1e-9) << exponent;
      EXPECT_LE(side_by_side(8, shorter, exponent + 1), both + 1e-9) << exponent;
    }
  }
}

TEST(Pipeline, HbmThatIsAsSlowAsTheArraysMakesAProductLongerThanEither) {
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < 100; ++i) {
    Case c = make_case(random, 1);
    c.task.vector = c.task.lhs_convert = 0;
    PipelineTask task = c.task;
    task.matmul = &c.work, task.rate = &c.rate;
    const PipelinePlan plan = c.model().plan(task);
    if (plan.steps < 50) continue;
    ++compared;
    const double moved = (task.other.out[0] + task.rhs.bytes * plan.rhs_times +
                          (task.lhs.channel >= 0 ? task.lhs.bytes * plan.lhs_times : 0)) *
                         c.channels[0].bus.total;
    // However the bytes are spread over the steps, no less than if it were evenly.
    EXPECT_GE(plan.time * 1.0001, side_by_side(plan.mxu, moved, c.device.dma.overlap));
  }
  EXPECT_GT(compared, 10);
}

TEST(Pipeline, BlocksOfADimensionAreAsLongAsEachOther) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    const Case c = make_case(random, 1);
    PipelineTask task = c.task;
    task.matmul = &c.work, task.rate = &c.rate;
    const PipelinePlan plan = c.model().plan(task);
    const auto is_even = [](int64_t whole, int64_t block, int64_t blocks, int64_t unit) {
      return blocks == 1 || block * blocks < whole + blocks * unit;
    };
    EXPECT_TRUE(is_even(c.work.m, plan.block_m, plan.blocks.m, c.rate.rows)) << plan.block_m;
    EXPECT_TRUE(is_even(c.work.n, plan.block_n, plan.blocks.n, c.device.mxu.columns)) << plan.block_n;
    EXPECT_TRUE(is_even(c.work.k, plan.block_k, plan.blocks.k, c.device.mxu.rows)) << plan.block_k;
  }
}

TEST(Pipeline, AStreamOverlapsAllButItsFirstAndLastBlock) {
  Case c;
  c.device = test::device_or_fail("unit").config;
  c.channels[0] = {0, 0, 1, 0, 0};  // a byte per picosecond, no latencies
  c.task.other.in[0] = 1 << 20, c.task.other.out[0] = 1 << 19;
  c.task.other_bytes = c.task.other.in[0] + c.task.other.out[0];
  const PipelinePlan plan = c.model().plan(c.task);  // nothing but DMA: blocks as small as there are
  EXPECT_DOUBLE_EQ(plan.time, (1 << 20) + (1 << 19));
  c.task.vector = 4 << 20;
  const PipelinePlan busy = c.model().plan(c.task);
  EXPECT_NEAR(busy.time, 4 << 20, 10);
  c.channels[0].read_latency = c.channels[0].write_latency = 1000;
  const PipelinePlan late = c.model().plan(c.task);
  EXPECT_GT(late.time, (4 << 20) + 2000);
  EXPECT_LT(late.time, (4 << 20) + (3 << 19) / 16 + 2100);  // more than sixteen blocks
}

/// Of one block.
struct StreamBlock {
  double in, out, work;  // picoseconds
};

/// A stream block by block, with two buffers for what comes in and two for what leaves, each way with lines
/// of its own: a block is asked for when its buffer was worked on, and worked on when one for what it makes
/// is empty.
double with_two_buffers(int64_t steps, const StreamBlock& block, const DmaChannel& channel) {
  double reads = 0, writes = 0;                 // when the lines are free
  double done[2] = {}, left[2] = {}, last = 0;  // of the last but one and the last block
  for (int64_t i = 0; i < steps; ++i) {
    double& done_before = done[i % 2];
    double& left_before = left[i % 2];
    double arrived = 0;
    if (block.in > 0) {
      reads = std::max(reads, done_before) + block.in;
      arrived = reads + channel.read_latency;
    }
    last = std::max({last, arrived, left_before}) + block.work;
    done_before = left_before = last;
    if (block.out > 0) {
      writes = std::max(writes, last) + block.out;
      left_before = writes + channel.write_latency;
    }
  }
  return std::max(left[0], left[1]);
}

TEST(Pipeline, AStreamTakesTheTimeOfItsBlocksInTwoBuffers) {
  std::mt19937 random(5);
  const auto number = [&](int64_t low, int64_t high) {
    return static_cast<double>(std::uniform_int_distribution<int64_t>(low, high)(random));
  };
  int hidden = 0, late_in = 0, late_out = 0, two_steps = 0;
  for (int i = 0; i < 1500; ++i) {
    Case c = make_case(random, 1);
    // A byte per picosecond each way.
    c.channels[0] = {{.read = 1, .write = 1, .total = 0.5},
                     number(0, 1 << (i % 2 ? 22 : 16)),
                     number(0, 1 << (i % 4 > 1 ? 22 : 16))};
    c.task = {};
    const auto bytes = [&] { return std::exp2(number(16, 25)) * (1 + number(0, 1000) / 1000); };
    if (i % 3 != 0) c.task.other.in[0] = bytes();
    if (i % 3 != 1) c.task.other.out[0] = bytes();
    c.task.other_bytes = c.task.other.in[0] + c.task.other.out[0];
    c.task.vector = std::exp2(number(12, 27));
    c.task.in_few_blocks = i % 5 < 2;
    const PipelinePlan plan = c.model().plan(c.task);
    const auto steps = static_cast<double>(plan.steps);
    const DmaChannel& channel = c.channels[0];
    const StreamBlock block{c.task.other.in[0] / steps, c.task.other.out[0] / steps, plan.step_work};
    const double real = with_two_buffers(plan.steps, block, channel);
    // Blocks come in pairs, with one wait for both: of an even number the last one has none before it, and is
    // done up to half a latency earlier than at even distances.
    const double latency =
        std::max(block.in > 0 ? channel.read_latency : 0.0, block.out > 0 ? channel.write_latency : 0.0);
    EXPECT_GE(plan.time, (1 - 1e-9) * real) << i;
    EXPECT_LE(plan.time, (1 + 1e-9) * real + (plan.steps > 1 ? latency / 2 : 0)) << i;
    if (plan.steps == 1) continue;
    two_steps += plan.steps == 2;
    if (plan.step_dma <= std::max({block.in, block.out, block.work}))
      ++hidden;
    else if (block.in + channel.read_latency > block.out + channel.write_latency || block.out == 0)
      ++late_in;
    else
      ++late_out;
  }
  EXPECT_GT(hidden, 20);
  EXPECT_GT(late_in, 20);
  EXPECT_GT(late_out, 20);
  EXPECT_GT(two_steps, 20);
}

// Latencies are paid at both ends, not by every block.
TEST(Pipeline, ALongStreamHidesLatencies) {
  Case c;
  c.device = test::device_or_fail("v6e").config;
  c.channels[0] = {0, 0, 1, 0, 0};
  c.task.other.in[0] = c.task.other_bytes = 1 << 30;
  const double at_once = c.model().plan(c.task).time;
  c.channels[0].read_latency = 1 << 16;
  const double late = c.model().plan(c.task).time;
  EXPECT_GE(late, at_once + (1 << 16));
  EXPECT_LE(late, at_once + 3 * (1 << 16));
}

TEST(Pipeline, BlocksThatTheTextStatesAreTaken) {
  std::mt19937 random(4);
  for (int i = 0; i < 50; ++i) {
    Case c = make_case(random, 1);
    c.work.batch = 1;
    PipelineTask task = c.task;
    task.matmul = &c.work, task.rate = &c.rate;
    const GivenBlocks given{1 + i % 3, 1 + i % 5, 1 + i % 2, '-'};
    const PipelinePlan plan = c.model().plan(task, given);
    EXPECT_EQ(plan.block_m, (c.work.m + given.m - 1) / given.m);
    EXPECT_EQ(plan.block_n, (c.work.n + given.n - 1) / given.n);
    EXPECT_NEAR(plan.time, step_by_step(c, plan), 1e-6 * plan.time);
  }
}

TEST(WindowConfig, ReadsIterationBounds) {
  const auto given = given_blocks(
      R"({"window_config":{"kernel_window_bounds":["152","16"],"iteration_bounds":["1","8","3"]},"megacore_config":{"megacore_split_dim":"1"}})");
  ASSERT_TRUE(given);
  EXPECT_EQ(given->n, 1);
  EXPECT_EQ(given->m, 8);
  EXPECT_EQ(given->k, 3);
  EXPECT_EQ(given->split, 'm');
  const auto escaped = given_blocks(R"("{\"window_config\":{\"iteration_bounds\":[\"8\",\"1\",\"1\"]}}")");
  ASSERT_TRUE(escaped);
  EXPECT_EQ(escaped->n, 8);
  EXPECT_EQ(escaped->split, '-');
  for (const char* text :
       {"", "{}", R"({"iteration_bounds":[]})", R"({"iteration_bounds":["0","1","1"]})",
        R"({"iteration_bounds":["1","1"]})", R"({"iteration_bounds":["1","1","1","1"]})",
        R"({"iteration_bounds":["99999999999999999999","1","1"]})", R"({"iteration_bounds")"})
    EXPECT_FALSE(given_blocks(text)) << text;
}

}  // namespace
}  // namespace hlosim
