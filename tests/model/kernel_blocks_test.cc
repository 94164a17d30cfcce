#include "model/kernel_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/pallas/grouped_product.h"
#include "model/window_config.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Small numbers for which every block size is worth trying.
struct Case {
  DeviceConfig device;
  DmaChannels channels{};
  ProductWork work;

  Core core() const { return Core(device, channels); }
  TimedKernel product(const std::optional<GivenBlocks>& given = {}) const {
    return product_kernel(core(), work, given);
  }
  TimedKernel stream() const { return stream_kernel(core(), work.other); }
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
  MatmulWork& product = c.work.matmul;
  product.batch = number(0, 2) == 0 ? number(1, 6) : 1;
  product.m = number(1, 4000), product.n = number(1, 4000), product.k = number(1, 4000);
  product.lhs = product.rhs = ElementType::kBF16;
  c.work.rate = *matmul_rate(c.device.mxu, product.lhs, product.rhs, product.precision);
  const auto bytes = [&](int64_t rows, int64_t columns) {
    return 2.0 * static_cast<double>(product.batch * rows * columns);
  };
  c.work.lhs = {bytes(product.m, product.k), static_cast<int8_t>(number(0, 9) == 0 ? -1 : 0)};
  c.work.rhs = {bytes(product.k, product.n), 0};
  c.work.other.bytes.out[0] = bytes(product.m, product.n);
  c.work.other.units.vpu = static_cast<double>(number(0, 100'000'000));
  c.work.lhs.convert = static_cast<double>(number(0, 1'000'000));
  return c;
}

/// Blocks of one core along each dimension.
struct Counts {
  int64_t batch, m, n, k;
};
Counts counts_of(const Case& c, const Kernel& kernel) {
  const ProductBlocks& b = kernel.blocks;
  const MatmulWork& whole = c.work.matmul;
  const auto count = [&](int64_t size, int64_t block, SharedDimension dimension) {
    const int64_t own = b.shared == dimension ? (size + c.device.cores - 1) / c.device.cores : size;
    return (own + block - 1) / block;
  };
  return {count(whole.batch, b.batch, SharedDimension::kBatch), count(whole.m, b.m, SharedDimension::kRows),
          count(whole.n, b.n, SharedDimension::kColumns), count(whole.k, b.k, SharedDimension::kNone)};
}

/// Walks over every step: a block is fetched when it differs from the one before.
double step_by_step(const Case& c, const TimedKernel& planned) {
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  const double cores = count(c.device.cores);
  const Kernel& kernel = planned.kernel;
  const Counts blocks = counts_of(c, kernel);
  const SharedDimension shared = kernel.blocks.shared;
  double lhs_share = c.work.lhs.bytes, rhs_share = c.work.rhs.bytes;
  if (shared == SharedDimension::kBatch || shared == SharedDimension::kRows) lhs_share /= cores;
  if (shared == SharedDimension::kBatch || shared == SharedDimension::kColumns) rhs_share /= cores;
  const double lhs = lhs_share / count(blocks.batch * blocks.m * blocks.k);
  const double rhs = rhs_share / count(blocks.batch * blocks.n * blocks.k);
  const double out = c.work.other.bytes.out[0] / cores / count(blocks.batch * blocks.m * blocks.n);
  struct Index {
    int64_t b, m, n, k;
  };
  std::vector<Index> order;
  const bool rows_outside = kernel.blocks.rows_outside;
  const int64_t outer = rows_outside ? blocks.m : blocks.n, inner = rows_outside ? blocks.n : blocks.m;
  for (int64_t b = 0; b < blocks.batch; ++b)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        for (int64_t k = 0; k < blocks.k; ++k)
          order.push_back(rows_outside ? Index{b, o, i, k} : Index{b, i, o, k});
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
    return (new_lhs && c.work.lhs.channel >= 0 ? lhs : 0) + (new_rhs ? rhs : 0);
  };
  const double step_work = units_time(kernel.works.front(), kernel.units, Core(c.device));
  double time = dma(fetched(0), 0) + step_work + dma(0, out);
  // While step i - 1 works, i comes in and what is finished goes out; it was asked for before that.
  for (size_t i = 1; i < order.size(); ++i)
    time += power_mean(step_work, (fetched(i) + (order[i].k == 0 ? out : 0)) * channel.bus.total,
                       c.device.dma.overlap);
  return time;
}

TEST(KernelBlocks, AProductTakesTheTimeOfItsStepsOneByOne) {
  std::mt19937 random(1);
  int with_parts = 0, rows_outside = 0;
  for (int i = 0; i < 400; ++i) {
    const Case c = make_case(random, i % 3 == 0 ? 2 : 1);
    const TimedKernel planned = c.product();
    if (planned.kernel.grid_steps > 100'000) continue;
    const Counts blocks = counts_of(c, planned.kernel);
    with_parts += blocks.k > 1, rows_outside += planned.kernel.blocks.rows_outside;
    EXPECT_NEAR(planned.time.time, step_by_step(c, planned), 1e-6 * planned.time.time);
    EXPECT_EQ(planned.kernel.grid_steps, static_cast<double>(blocks.batch * blocks.m * blocks.n * blocks.k));
  }
  EXPECT_GT(with_parts, 10);
  EXPECT_GT(rows_outside, 10);
}

TEST(KernelBlocks, BlocksFitAndNothingTakesLongerThanTheWhole) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const Case c = make_case(random, i % 2 + 1);
    const auto [kernel, time] = c.product();
    EXPECT_LE(kernel.vmem(), static_cast<double>(c.device.vmem.scoped_limit.count()));
    EXPECT_GE(time.time, kernel.works[0].mxu);
    EXPECT_GE(time.time * 1.000001, kernel.works[0].vpu);
    const double cores = static_cast<double>(c.device.cores);
    double moved = c.work.rhs.bytes * kernel.rhs_times + c.work.other.bytes.out[0];
    if (c.work.lhs.channel >= 0) moved += c.work.lhs.bytes * kernel.lhs_times;
    EXPECT_GE(time.time * 1.000001, moved / cores * c.channels[0].bus.total);
    EXPECT_GE(kernel.lhs_times, 1);
    EXPECT_GE(kernel.rhs_times, 1);
  }
}

TEST(KernelBlocks, MoreOfAnythingIsNeverSlower) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Case c = make_case(random, i % 2 + 1);
    const auto time = [](const Case& of) { return of.product().time.time; };
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

TEST(PowerMean, LiesBetweenTheLongerOneAndBothInTurn) {
  for (const double exponent : {1.0, 2.0, 3.5, 4.0, 100.0}) {
    EXPECT_NEAR(power_mean(8, 8, exponent), 8 * std::pow(2, 1 / exponent), 1e-9) << exponent;
    EXPECT_EQ(power_mean(8, 0, exponent), 8) << exponent;
    EXPECT_EQ(power_mean(0, 0, exponent), 0) << exponent;
    for (const double shorter : {0.5, 2.0, 7.0}) {
      const double both = power_mean(8, shorter, exponent);
      EXPECT_DOUBLE_EQ(both, power_mean(shorter, 8, exponent));
      EXPECT_GE(both, 8) << exponent;
      EXPECT_LE(both, 8 + shorter + 1e-9) << exponent;
      EXPECT_LE(power_mean(8, shorter, exponent + 1), both + 1e-9) << exponent;
    }
  }
}

TEST(KernelBlocks, HbmThatIsAsSlowAsTheArraysMakesAProductLongerThanEither) {
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < 100; ++i) {
    Case c = make_case(random, 1);
    c.work.other.units.vpu = c.work.lhs.convert = 0;
    const auto [kernel, time] = c.product();
    if (kernel.grid_steps < 50) continue;
    ++compared;
    const double moved = (c.work.other.bytes.out[0] + c.work.rhs.bytes * kernel.rhs_times +
                          (c.work.lhs.channel >= 0 ? c.work.lhs.bytes * kernel.lhs_times : 0)) *
                         c.channels[0].bus.total;
    // However the bytes are spread over the steps, no less than if it were evenly.
    EXPECT_GE(time.time * 1.0001, power_mean(kernel.works[0].mxu, moved, c.device.dma.overlap));
  }
  EXPECT_GT(compared, 10);
}

TEST(KernelBlocks, BlocksOfADimensionAreAsLongAsEachOther) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    const Case c = make_case(random, 1);
    const TimedKernel planned = c.product();
    const auto is_even = [](int64_t whole, int64_t block, int64_t blocks, int64_t unit) {
      return blocks == 1 || block * blocks < whole + blocks * unit;
    };
    const ProductBlocks& b = planned.kernel.blocks;
    const Counts blocks = counts_of(c, planned.kernel);
    const MatmulWork& whole = c.work.matmul;
    EXPECT_TRUE(is_even(whole.m, b.m, blocks.m, c.work.rate.rows)) << b.m;
    EXPECT_TRUE(is_even(whole.n, b.n, blocks.n, c.device.mxu.columns)) << b.n;
    EXPECT_TRUE(is_even(whole.k, b.k, blocks.k, c.device.mxu.rows)) << b.k;
  }
}

TEST(KernelBlocks, AStreamOverlapsAllButItsFirstAndLastBlock) {
  Case c;
  c.device = test::device_or_fail("unit").config;
  c.channels[0] = {{0, 0, 1}, 0, 0};  // a byte per picosecond, no latencies
  c.work.other.bytes.in[0] = 1 << 20, c.work.other.bytes.out[0] = 1 << 19;
  // Nothing but DMA: blocks as small as there are.
  EXPECT_DOUBLE_EQ(c.stream().time.time, (1 << 20) + (1 << 19));
  c.work.other.units.vpu = 4 << 20;
  EXPECT_NEAR(c.stream().time.time, 4 << 20, 10);
  c.channels[0].read_latency = c.channels[0].write_latency = 1000;
  const double late = c.stream().time.time;
  EXPECT_GT(late, (4 << 20) + 2000);
  EXPECT_LT(late, (4 << 20) + (3 << 19) / 16 + 2100);  // more than sixteen blocks
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

TEST(KernelBlocks, AStreamTakesTheTimeOfItsBlocksInTwoBuffers) {
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
    c.work.other = {};
    const auto bytes = [&] { return std::exp2(number(16, 25)) * (1 + number(0, 1000) / 1000); };
    if (i % 3 != 0) c.work.other.bytes.in[0] = bytes();
    if (i % 3 != 1) c.work.other.bytes.out[0] = bytes();
    c.work.other.units.vpu = std::exp2(number(12, 27));
    c.work.other.in_few_blocks = i % 5 < 2;
    const auto [kernel, time] = c.stream();
    const double steps = kernel.grid_steps;
    const DmaChannel& channel = c.channels[0];
    const StreamBlock block{c.work.other.bytes.in[0] / steps, c.work.other.bytes.out[0] / steps,
                            c.work.other.units.vpu / steps};
    const double real = with_two_buffers(static_cast<int64_t>(steps), block, channel);
    // Blocks come in pairs, with one wait for both: of an even number the last one has none before it, and is
    // done up to half a latency earlier than at even distances.
    const double latency =
        std::max(block.in > 0 ? channel.read_latency : 0.0, block.out > 0 ? channel.write_latency : 0.0);
    EXPECT_GE(time.time, (1 - 1e-9) * real) << i;
    EXPECT_LE(time.time, (1 + 1e-9) * real + (steps > 1 ? latency / 2 : 0)) << i;
    if (steps == 1) continue;
    two_steps += steps == 2;
    KernelTerms terms;
    time_of(kernel, Core(c.device, c.channels), terms);
    if (terms.steps.back().transfers <= std::max({block.in, block.out, block.work}))
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
TEST(KernelBlocks, ALongStreamHidesLatencies) {
  Case c;
  c.device = test::device_or_fail("v6e").config;
  c.channels[0] = {{0, 0, 1}, 0, 0};
  c.work.other.bytes.in[0] = 1 << 30;
  const double at_once = c.stream().time.time;
  c.channels[0].read_latency = 1 << 16;
  const double late = c.stream().time.time;
  EXPECT_GE(late, at_once + (1 << 16));
  EXPECT_LE(late, at_once + 3 * (1 << 16));
}

TEST(KernelBlocks, BlocksThatTheTextStatesAreTaken) {
  std::mt19937 random(4);
  for (int i = 0; i < 50; ++i) {
    Case c = make_case(random, 1);
    c.work.matmul.batch = 1;
    const GivenBlocks given{1 + i % 3, 1 + i % 5, 1 + i % 2};
    const TimedKernel planned = c.product(given);
    EXPECT_TRUE(planned.kernel.blocks.given);
    EXPECT_EQ(planned.kernel.blocks.m, (c.work.matmul.m + given.m - 1) / given.m);
    EXPECT_EQ(planned.kernel.blocks.n, (c.work.matmul.n + given.n - 1) / given.n);
    EXPECT_NEAR(planned.time.time, step_by_step(c, planned), 1e-6 * planned.time.time);
  }
}

TEST(WindowConfig, ReadsIterationBounds) {
  const auto given = given_blocks(
      R"({"window_config":{"kernel_window_bounds":["152","16"],"iteration_bounds":["1","8","3"]},"megacore_config":{"megacore_split_dim":"1"}})");
  ASSERT_TRUE(given);
  EXPECT_EQ(given->n, 1);
  EXPECT_EQ(given->m, 8);
  EXPECT_EQ(given->k, 3);
  EXPECT_EQ(given->shared, SharedDimension::kRows);
  const auto escaped = given_blocks(R"("{\"window_config\":{\"iteration_bounds\":[\"8\",\"1\",\"1\"]}}")");
  ASSERT_TRUE(escaped);
  EXPECT_EQ(escaped->n, 8);
  EXPECT_EQ(escaped->shared, SharedDimension::kNone);
  for (const char* text :
       {"", "{}", R"({"iteration_bounds":[]})", R"({"iteration_bounds":["0","1","1"]})",
        R"({"iteration_bounds":["1","1"]})", R"({"iteration_bounds":["1","1","1","1"]})",
        R"({"iteration_bounds":["99999999999999999999","1","1"]})", R"({"iteration_bounds")"})
    EXPECT_FALSE(given_blocks(text)) << text;
}

// ── ragged products ──

/// [8192,2048] x [8,2048,2048] in bf16, in tiles of so many elements along each dimension.
TimedKernel ragged_in_tiles(const std::string& size, const std::string& grid_step) {
  const Device device = test::device_or_fail("v7x", {{"kernel.ragged_rows", size},
                                                     {"kernel.ragged_depth", size},
                                                     {"kernel.ragged_columns", size},
                                                     {"overhead.grid_step", grid_step}});
  ProductWork work;
  MatmulWork& product = work.matmul;
  product.batch = 8, product.m = 1024, product.n = 2048, product.k = 2048;
  product.lhs = product.rhs = ElementType::kBF16, product.ragged = true;
  work.rate = *matmul_rate(device.config.mxu, product.lhs, product.rhs, product.precision);
  work.lhs = {8192.0 * 2048 * 2, 0}, work.rhs = {8.0 * 2048 * 2048 * 2, 0};
  work.other.bytes.out[0] = 8192.0 * 2048 * 2;
  return ragged_kernel(Core(device.config), work);
}

TEST(RaggedKernel, TilesTakeAStepOfAGridAtLeast) {
  const TimedKernel small = ragged_in_tiles("256", "350 ns");
  EXPECT_EQ(small.kernel.grid_steps, 8 * 4 * 8 * 8);
  EXPECT_GE(small.time.time, small.kernel.grid_steps * 350e3);
  EXPECT_LT(ragged_in_tiles("256", "0 ns").time.time, small.time.time);
  // Large ones take longer by themselves.
  EXPECT_EQ(ragged_in_tiles("1024", "350 ns").time.time, ragged_in_tiles("1024", "0 ns").time.time);
}

// ── ragged products as servers run them ──

/// Eight groups of so many rows, x [4096,1536] in bf16 on v7x.
struct Served {
  explicit Served(int64_t rows, std::vector<DeviceOverride> changes = {{"kernel.ragged_walk", "served"}})
      : device(test::device_or_fail("v7x", changes)) {
    work.matmul = {.batch = 8, .m = rows, .n = 1536, .k = 4096};
    work.matmul.lhs = work.matmul.rhs = ElementType::kBF16, work.matmul.ragged = true;
    work.groups = 8;
    work.rate = *matmul_rate(device.config.mxu, ElementType::kBF16, ElementType::kBF16, {});
    const auto all = static_cast<double>(8 * rows);
    work.lhs = {all * 4096 * 2, 0}, work.rhs = {8.0 * 4096 * 1536 * 2, 0};
    work.other.bytes.out[0] = all * 1536 * 2;
  }
  TimedKernel kernel() const { return ragged_kernel(Core(device.config), work); }

  Device device;
  ProductWork work;
};

TEST(RaggedKernel, TilesOfServersHaveAsManyRowsAsTheDeviceSays) {
  const TimedKernel one = Served(128).kernel(), two = Served(129).kernel(), four = Served(512).kernel();
  EXPECT_EQ(one.kernel.blocks.m, 128);
  EXPECT_EQ(two.kernel.blocks.m, 65);
  EXPECT_EQ(four.kernel.blocks.m, 128);
  EXPECT_EQ(two.kernel.grid_steps, 2 * one.kernel.grid_steps);
  EXPECT_EQ(four.kernel.grid_steps, 4 * one.kernel.grid_steps);
  // Weights are read once, and bound all of them.
  EXPECT_EQ(four.kernel.rhs_times, 1);
  EXPECT_GT(two.time.time, one.time.time);
  EXPECT_LT(two.time.time, 1.15 * one.time.time);
  const TimedKernel halves =
      Served(128, {{"kernel.ragged_walk", "served"}, {"kernel.served_rows", "64"}}).kernel();
  EXPECT_EQ(halves.kernel.grid_steps, 2 * one.kernel.grid_steps);
}

TEST(RaggedKernel, PartsOfTheDepthAreReadForEachTileOfAServersGroup) {
  const std::vector<DeviceOverride> small = {{"kernel.ragged_walk", "served"},
                                             {"vmem.scoped_limit", "6 MiB"}};
  const TimedKernel one = Served(128, small).kernel(), two = Served(256, small).kernel();
  ASSERT_LT(one.kernel.blocks.k, 4096);
  EXPECT_EQ(one.kernel.rhs_times, 1);
  EXPECT_EQ(two.kernel.rhs_times, 2);
}

TEST(RaggedKernel, GroupsOfOneTileOfServersRunInTheirKernel) {
  EXPECT_EQ(Served(128, {}).kernel().time.time, Served(128).kernel().time.time);
  EXPECT_GT(Served(129, {}).kernel().time.time, Served(129).kernel().time.time);
  EXPECT_EQ(Served(129, {{"kernel.served_rows", "256"}}).kernel().kernel.blocks.m, 129);
  const auto buffers = [](const std::string& count) {
    const Served served(128, {{"kernel.served_buffers", count}});
    return served.kernel().kernel.windows[1].buffers;
  };
  EXPECT_EQ(buffers("3"), 3);
  EXPECT_EQ(buffers("2"), 2);
}

// ── ragged products by visits ──

/// Eight groups of 1,024 rows, [8192,2048] x [8,2048,2048] in bf16, and the kernel's tiles.
struct Ragged {
  explicit Ragged(const std::string& rows, bool is_gradient = false, const std::string& name = "v7x")
      : device(test::device_or_fail(name, {{"kernel.ragged_walk", "visits"},
                                           {"kernel.ragged_rows", rows},
                                           {"kernel.ragged_depth", "1024"},
                                           {"kernel.ragged_columns", "1024"}})) {
    MatmulWork& product = work.matmul;
    product = {.batch = 8, .m = 1024, .n = 2048, .k = 2048};
    if (is_gradient) std::swap(product.m, product.k), product.ragged_terms = true;
    product.lhs = product.rhs = ElementType::kBF16, product.ragged = true;
    work.rate = *matmul_rate(device.config.mxu, product.lhs, product.rhs, product.precision);
    const double rows_bytes = 8192 * 2048 * 2, weights = 8.0 * 2048 * 2048 * 2;
    work.lhs = {rows_bytes, 0}, work.rhs = {is_gradient ? rows_bytes : weights, 0};
    work.other.bytes.out[0] = is_gradient ? weights : rows_bytes;
  }
  TimedKernel kernel() const { return ragged_kernel(Core(device.config), work); }
  double step() const { return static_cast<double>(device.config.overhead.grid_step.count()); }

  Device device;
  ProductWork work;
};

TEST(RaggedKernel, TilesOfTheTextAreThoseOfTheDevice) {
  for (const bool is_gradient : {false, true}) {
    const Ragged of_device("512", is_gradient);
    Ragged of_text("128", is_gradient);
    of_text.work.matmul.tile = {.m = 512, .k = 1024, .n = 1024};
    EXPECT_EQ(of_text.kernel().time.time, of_device.kernel().time.time);
    EXPECT_TRUE(of_text.kernel().kernel.blocks.given);
    // Stated tiles are visited however the device walks others, but for servers' own kernel.
    of_text.device.config.kernel.ragged_walk = RaggedWalk::kGroups;
    EXPECT_EQ(of_text.kernel().time.time, of_device.kernel().time.time);
    of_text.device.config.kernel.ragged_walk = RaggedWalk::kServed;
    EXPECT_EQ(runs_in_served_kernel(of_text.work.matmul, of_text.device.config.kernel), !is_gradient);
  }
}

TEST(RaggedKernel, ByVisitsItIsTheKernelOfGroupedProducts) {
  for (const bool is_gradient : {false, true}) {
    const Ragged ragged("512", is_gradient);
    GroupedProblem problem{.rows = 8192, .depth = 2048, .columns = 2048, .groups = 8};
    if (is_gradient) problem.form = GroupedForm::kWeightGradient;
    const Result<KernelCost> cost =
        grouped_product_cost(ragged.device.config, problem, {.m = 512, .k = 1024, .n = 1024});
    ASSERT_TRUE(cost);
    const TimedKernel planned = ragged.kernel();
    EXPECT_EQ(planned.time.time, cost->planned.time.time);
    // Columns and parts of the depth, two each; 16 tiles of rows, and one more visit for each further group.
    EXPECT_EQ(planned.kernel.grid_steps, 2 * 2 * (16 + 7));
  }
}

TEST(RaggedKernel, CoresShareTilesOfColumnsThatTheyDivide) {
  for (const bool is_gradient : {false, true}) {
    Ragged ragged("512", is_gradient, "v5p");
    RaggedTile& tile = ragged.work.matmul.tile;
    const auto kernel = [&](int64_t columns, int64_t columns_of_tile, bool one_core) {
      ragged.work.matmul.n = columns;
      tile = {.m = 512, .k = 1024, .n = columns_of_tile, .one_core = one_core};
      return ragged.kernel();
    };
    ragged.work.lhs.bytes = ragged.work.rhs.bytes = ragged.work.other.bytes.out[0] = 0;
    const TimedKernel shared = kernel(2048, 1024, false), one = kernel(2048, 1024, true);
    EXPECT_EQ(shared.kernel.cores, 2);
    EXPECT_EQ(one.kernel.cores, 1);
    EXPECT_EQ(shared.kernel.grid_steps, one.kernel.grid_steps / 2);
    EXPECT_NEAR(shared.time.time / one.time.time, 0.5, 0.01);
    // Three or one can't be dealt out evenly.
    for (const int64_t tiles : {1, 3})
      EXPECT_EQ(kernel(1024 * tiles, 1024, false).time.time, kernel(1024 * tiles, 1024, true).time.time);
    // The last tile is computed whole, however little of it there is.
    for (const bool one_core : {false, true})
      EXPECT_EQ(kernel(1536, 1024, one_core).time.time, kernel(2048, 1024, one_core).time.time);
  }
}

TEST(RaggedKernel, SmallTilesTakeTheirStepsAtLeast) {
  const Ragged small("32"), large("512");
  const TimedKernel planned = small.kernel();
  EXPECT_EQ(planned.kernel.grid_steps, 2 * 2 * (256 + 7));
  EXPECT_GE(planned.time.time, planned.kernel.grid_steps * small.step());
  EXPECT_GT(planned.time.time, large.kernel().time.time);
}

TEST(RaggedKernel, WhatIsFusedAroundVisitsComesAfterThem) {
  for (const char* name : {"v7x", "v5p"}) {
    Ragged ragged("512", false, name);
    const double before = ragged.kernel().time.time, cores = ragged.kernel().kernel.cores;
    EXPECT_EQ(cores, ragged.device.config.cores);
    ragged.work.other.units.vpu = 1e6;
    EXPECT_NEAR(ragged.kernel().time.time, before + 1e6 / cores, 1);
    ragged.work.further_mxu = 3e6;
    EXPECT_GT(ragged.kernel().time.time, before + 2e6 / cores);
    // Further bytes are those of all cores.
    ragged.work.other.bytes.in[1] = 4e6;
    double moved = 0;
    const Kernel kernel = ragged.kernel().kernel;
    for (const StepClass& step : kernel.steps) moved += step.count * step.traffic.in[1];
    EXPECT_EQ(moved * cores, 4e6);
  }
}

}  // namespace
}  // namespace hlosim
