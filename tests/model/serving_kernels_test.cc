#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "model/pallas/expert_layer.h"
#include "model/pallas/grouped_product.h"
#include "model/pallas/latent_attention.h"
#include "model/pallas/paged_attention.h"
#include "model/pallas/quantized_matmul.h"
#include "support/folders.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

// ── grouped products ──

TEST(GroupedProduct, VisitsAreThoseOfAWalkOverAllRows) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    GroupedProblem problem;
    problem.groups = 1 + static_cast<int64_t>(random() % 9);
    for (int64_t i = 0; i < problem.groups; ++i)
      problem.sizes.push_back(random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % 40));
    const int64_t tile = 1 + static_cast<int64_t>(random() % 16);
    std::set<std::pair<int64_t, int64_t>> visits;
    std::set<int64_t> tiles;
    int64_t row = 0, empty = 0, groups = 0;
    for (int64_t group = 0; group < problem.groups; ++group) {
      const int64_t size = problem.sizes[static_cast<size_t>(group)];
      (size == 0 ? empty : groups) += 1;
      for (int64_t i = 0; i < size; ++i, ++row) visits.insert({group, row / tile}), tiles.insert(row / tile);
    }
    const TileVisits of_rows = tile_visits(problem, tile, false), of_all = tile_visits(problem, tile, true);
    EXPECT_EQ(of_rows.all, static_cast<double>(visits.size()));
    EXPECT_EQ(of_rows.tiles, static_cast<double>(tiles.size()));
    EXPECT_EQ(of_rows.groups, static_cast<double>(groups));
    EXPECT_EQ(of_all.all, static_cast<double>(visits.size()) + static_cast<double>(empty));
  }
}

TEST(GroupedProduct, FourCornersOfTheGridAddUpToAllVisits) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  GroupedProblem problem{.rows = 4096, .depth = 1024, .columns = 2048, .groups = 8};
  problem.sizes = {512, 100, 412, 1024, 0, 1024, 512, 512};
  const Result<KernelCost> cost = grouped_product_cost(device, problem, {.m = 512, .k = 1024, .n = 1024});
  ASSERT_TRUE(cost);
  double steps = 0;
  for (const StepClass& step : cost->planned.kernel.steps) steps += step.count;
  EXPECT_DOUBLE_EQ(steps, 2 * tile_visits(problem, 512, false).all);
  // Rows come once for each of two columns of tiles, weights of seven groups once.
  const double rows = 2.0 * 4096 * 1024 * 2, weights = 7.0 * 1024 * 2048 * 2;
  EXPECT_NEAR(static_cast<double>(cost->read.count()), rows + weights - 512 * 1024 * 2 - 1024 * 1024 * 2, 1);
}

TEST(GroupedProduct, UnevenGroupsTakeLongerAndEmptyOnesNothing) {
  const DeviceConfig device = test::device_or_fail("v5e").config;
  GroupedProblem problem{.rows = 8192, .depth = 2048, .columns = 2048, .groups = 8};
  const auto time = [&](std::vector<int64_t> sizes) {
    problem.sizes = std::move(sizes);
    return grouped_product_cost(device, problem, {.m = 512, .k = 2048, .n = 1024})->kernel;
  };
  const Picoseconds even = time({1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024});
  EXPECT_GT(time({1000, 1048, 1000, 1048, 1000, 1048, 1000, 1048}), even);
  EXPECT_LT(time({8192, 0, 0, 0, 0, 0, 0, 0}), even);
}

// ── attention over pages ──

PagedProblem llama_70b() {  // of one of eight devices
  return {.heads = 8,
          .kv_heads = 1,
          .head_size = 128,
          .page_size = 128,
          .most_keys = 2048,
          .sequences = {{64, 1, 1500}}};
}

TEST(PagedAttention, DefaultBlocksAndCacheOfLlama70B) {
  PagedProblem problem = llama_70b();
  problem.sequences.push_back({1, 512, 512});
  const PagedBlocks blocks = default_paged_blocks(test::device_or_fail("v6e").config, problem);
  EXPECT_EQ(blocks.decode_kv, 2048);
  EXPECT_EQ(blocks.decode_kv_compute, 2048);
  EXPECT_EQ(blocks.q, 128);
  EXPECT_EQ(blocks.kv, 1024);
  EXPECT_EQ(blocks.q_compute, 64);
  EXPECT_EQ(blocks.kv_compute, 512);
  EXPECT_EQ(cache_bytes_per_token(problem, 128) * 80, 40960);
  problem.kv = ElementType::kF8E4M3FN;  // two rows are padded to four
  EXPECT_EQ(cache_bytes_per_token(problem, 128) * 80, 40960);
}

TEST(PagedAttention, OnlyValidTokensAreReadButWholeBlocksAreComputed) {
  const DeviceConfig device = test::device_or_fail("v6e").config;
  const auto cost = [&](int64_t keys, int64_t computed) {
    PagedProblem problem = llama_70b();
    problem.sequences = {{64, 1, keys}};
    return *paged_attention_cost(device, problem, {.decode_kv = 2048, .decode_kv_compute = computed});
  };
  EXPECT_EQ((cost(1500, 2048).read - cost(1000, 2048).read).count(), 64 * 500 * 512);
  EXPECT_EQ(cost(1500, 2048).mxu_cycles, cost(1000, 2048).mxu_cycles);
  EXPECT_GT(cost(1500, 512).mxu_cycles, cost(1000, 512).mxu_cycles);
}

TEST(PagedAttention, AWindowReadsNoOlderBlocks) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  PagedProblem problem = llama_70b();
  problem.most_keys = 32768;
  problem.sequences = {{8, 1, 32768}};
  const PagedBlocks blocks{.decode_kv = 1024, .decode_kv_compute = 1024};
  const KernelCost all = *paged_attention_cost(device, problem, blocks);
  problem.window = 1024;
  const KernelCost windowed = *paged_attention_cost(device, problem, blocks);
  EXPECT_EQ(windowed.computed, 8);
  EXPECT_EQ(all.computed, 8 * 32);
  EXPECT_LT(windowed.kernel.count() * 8, all.kernel.count());
}

TEST(PagedAttention, KeysAreReadAgainForEveryBlockOfQueries) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  PagedProblem problem = llama_70b();
  problem.sequences = {{1, 512, 2048}};
  const auto read = [&](int64_t queries) {
    return static_cast<double>(
        paged_attention_cost(device, problem,
                             {.q = queries, .kv = 512, .q_compute = queries, .kv_compute = 512})
            ->read.count());
  };
  const double of_queries = 512.0 * 8 * 128 * 2;
  EXPECT_NEAR((read(64) - of_queries) / (read(512) - of_queries), 8, 0.01);
}

// ── latents ──

TEST(LatentAttention, TokensOfTheCacheArePaddedToLanes) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  LatentProblem problem{.heads = 8, .page_size = 256};
  problem.sequences = {{16, 1, 4096}};
  LatentBlocks blocks = default_latent_blocks();
  const auto read = [&](int64_t keys) {
    problem.sequences[0].keys = keys;
    return latent_attention_cost(device, problem, blocks)->read.count();
  };
  EXPECT_EQ(read(4096) - read(2048), int64_t{16} * 2048 * 1280);
}

TEST(LatentAttention, TunedBlocksAreFasterThanThoseServersTake) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  LatentProblem problem{.heads = 8, .page_size = 256};
  const auto time = [&](const SequenceLength& one, const LatentBlocks& blocks) {
    problem.sequences = {one};
    return latent_attention_cost(device, problem, blocks)->kernel.count();
  };
  const LatentBlocks usual = default_latent_blocks();
  EXPECT_LT(time({128, 1, 16384}, {32, 2, 1, 16}), time({128, 1, 16384}, usual));
  EXPECT_LT(4 * time({1, 512, 16384}, {3, 4, 8, 256}), time({1, 512, 16384}, usual));
}

// ── experts and quantised products ──

TEST(ExpertLayer, WeightsAreReadOncePerPassAndSixteenBitsTakeTwiceTheExchange) {
  const DeviceConfig device = test::device_or_fail("v7x").config;
  ExpertProblem problem{.tokens = 4096,
                        .experts = 160,
                        .top_k = 8,
                        .model = 6144,
                        .hidden = 2560,
                        .devices = 8,
                        .weights = ElementType::kF8E4M3FN,
                        .wire = ElementType::kF8E4M3FN,
                        .pipelined = true};
  const double weights = 20.0 * 3 * 6144 * 2560;
  const auto cost = [&](int64_t rows) { return *expert_layer_cost(device, problem, {rows, 512}); };
  EXPECT_NEAR(static_cast<double>((cost(64).read - cost(128).read).count()), 2 * weights, 1);
  problem.exchange = 1000;  // nothing else counts
  const double narrow = static_cast<double>(cost(256).kernel.count());
  problem.wire = ElementType::kBF16;
  EXPECT_NEAR(static_cast<double>(cost(256).kernel.count()) / narrow, 4.0 / 3, 0.01);
}

TEST(QuantizedProduct, NativeWhereTheArraysHaveTheTypeElseWidened) {
  const QuantizedProblem int8{128, 4096, 28672, ElementType::kBF16, ElementType::kS8};
  const QuantizedBlocks blocks{128, 1024, 4096};
  EXPECT_TRUE(multiplies_stored_weights(test::device_or_fail("v6e").config, int8));
  EXPECT_FALSE(multiplies_stored_weights(test::device_or_fail("v7x").config, int8));
  // Bytes are those stored on both.
  for (const char* name : {"v6e", "v7x"}) {
    const DeviceConfig device = test::device_or_fail(name).config;
    EXPECT_EQ(quantized_product_cost(device, int8, blocks)->read.count(), 28672 * 4096 + 128 * 4096 * 2)
        << name;
  }
}

TEST(ServingKernels, MoreMemoryBandwidthIsNeverSlower) {
  for (const char* name : {"v5e", "v6e", "v7x"}) {
    DeviceConfig slow = test::device_or_fail(name).config, fast = slow;
    fast.dma.bandwidth = BytesPerSecond(2 * slow.dma.bandwidth.count());
    for (MemorySpace& space : fast.memory)
      if (space.bandwidth) space.bandwidth->amount *= 2;
    const auto check = [&](const auto& cost) { EXPECT_LE(cost(fast)->kernel, cost(slow)->kernel) << name; };
    const GroupedProblem grouped{.rows = 8192, .depth = 2048, .columns = 2048, .groups = 32};
    check([&](const DeviceConfig& device) {
      return grouped_product_cost(device, grouped, {512, 2048, 1024});
    });
    const PagedProblem paged = llama_70b();
    check([&](const DeviceConfig& device) {
      return paged_attention_cost(device, paged, {.decode_kv = 512, .decode_kv_compute = 512});
    });
  }
}

// ── lengths ──

TEST(SequenceLengths, CountsTokensAndKeys) {
  const Result<std::vector<SequenceLength>> read = parse_sequence_lengths("64x1:1500,448:2048,512");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<SequenceLength>{{64, 1, 1500}, {1, 448, 2048}, {1, 512, 512}}));
  EXPECT_EQ(query_tokens(*read), 64 + 448 + 512);
  for (const char* wrong : {"", "x", "1:", "2x", "1:2:3", "8x-1:4", "5:4", "0x1:4", "1,,2", "99999999999:1"})
    EXPECT_FALSE(parse_sequence_lengths(wrong)) << wrong;
  EXPECT_EQ(*parse_counted_numbers("2x3,0,7"), (std::vector<int64_t>{3, 3, 0, 7}));
  EXPECT_FALSE(parse_counted_numbers("2000000x1"));
}

}  // namespace
}  // namespace hlosim
