// Products beside rings of permutes.
#include "partition/windowed_products.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partition_check/partition_check.h"
#include "support/modules.h"
#include "support/random_shardings.h"

namespace hlosim {
namespace {

using test::module_or_fail;

using When = WindowedEinsum::When;

PartitionOptions rings(int64_t devices) {
  return {.devices = devices, .windowed = {.when = When::kAlways, .flops_per_second = {}}};
}

PartitionOptions rings_from(int64_t devices, int64_t bytes) {
  return {.devices = devices,
          .windowed = {.when = When::kThreshold, .threshold_bytes = bytes, .flops_per_second = {}}};
}

Partitioned partitioned(const std::string& text, const PartitionOptions& options) {
  auto made = partition(module_or_fail("HloModule m\n" + text), op_table(), options);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : Partitioned();
}

std::vector<ReshardKind> kinds_in_rings(const std::string& text, int64_t devices) {
  std::vector<ReshardKind> all;
  for (const Resharding& one : partitioned(text, rings(devices)).reshardings) all.push_back(one.kind);
  return all;
}

int64_t bytes_sent(const Partitioned& made) {
  int64_t bytes = 0;
  for (const Resharding& one : made.reshardings) bytes += one.bytes;
  return bytes;
}

void expect_rings_agree(const std::string& text, int64_t devices) {
  const auto check = check_partition(module_or_fail("HloModule m\n" + text), op_table(), rings(devices), {});
  ASSERT_TRUE(check) << check.error().message << "\n" << text;
  EXPECT_TRUE(check->agrees()) << text;
}

/// A product of these sizes, each array cut along a dimension.
struct Product {
  int64_t rows, depth, columns;
  int x, w, result;
};

std::string text_of(const Product& product, int64_t n) {
  const auto cut = [&](int dimension) {
    return fmt::format("{{devices=[{}]<=[{}]}}",
                       dimension == 0 ? fmt::format("{},1", n) : fmt::format("1,{}", n), n);
  };
  return fmt::format(
      "ENTRY e {{\n x = f32[{0},{1}] parameter(0), sharding={3}\n w = f32[{1},{2}] parameter(1), "
      "sharding={4}\n"
      " ROOT y = f32[{0},{2}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, "
      "sharding={5}\n"
      "}}\n",
      product.rows, product.depth, product.columns, cut(product.x), cut(product.w), cut(product.result));
}

TEST(WindowedProducts, RingsSendWhatTheCollectivesDid) {
  constexpr Product kProducts[] = {
      {240, 48, 24, 0, 0, 0},  // w is gathered along what is summed over
      {240, 48, 24, 0, 1, 0},  // along its columns
      {24, 48, 240, 0, 1, 1},  // x along its rows
      {24, 480, 24, 1, 0, 0},  // sums are scattered along rows
      {24, 480, 24, 1, 0, 1},  // along columns
  };
  for (const int64_t n : {2, 3, 4, 6, 8})
    for (const Product& one : kProducts) {
      const std::string text = text_of(one, n);
      SCOPED_TRACE(text);
      EXPECT_EQ(kinds_in_rings(text, n), std::vector(static_cast<size_t>(n - 1), ReshardKind::kPermute));
      EXPECT_EQ(bytes_sent(partitioned(text, rings(n))), bytes_sent(partitioned(text, {.devices = n})));
      expect_rings_agree(text, n);
    }
}

TEST(WindowedProducts, SumsOfARingStayApart) {
  const Partitioned made = partitioned(text_of({240, 48, 24, 0, 0, 0}, 4), rings(4));
  int64_t barriers = 0;
  for (const Computation& computation : made.module.computations)
    for (const InstructionId id : computation.instructions)
      barriers += made.module[id].opcode == Opcode::kOptimizationBarrier;
  EXPECT_EQ(barriers, 3);  // between four products
}

TEST(WindowedProducts, FourBitsAreHalfABytePerElement) {
  const std::string text =
      "ENTRY e {\n x = s4[7,3] parameter(0), sharding={devices=[2,1]<=[2]}\n"
      " ROOT y = s4[7,3] copy(x), sharding={replicated}\n}\n";
  EXPECT_EQ(bytes_sent(partitioned(text, {.devices = 2})), 6);  // 4 rows of 3, 12 halves
  const std::string odd =
      "ENTRY e {\n x = s4[9] parameter(0), sharding={devices=[3]<=[3]}\n"
      " ROOT y = s4[9] copy(x), sharding={replicated}\n}\n";
  EXPECT_EQ(bytes_sent(partitioned(odd, {.devices = 3})), 4);  // two parts of three halves, of 2 B each
}

TEST(WindowedProducts, BatchesAndTransposedOperands) {
  for (const int64_t n : {2, 4})
    for (const std::string result : {"devices=[1,$,1]<=[$]", "devices=[1,1,$]<=[$]"}) {
      std::string text =
          "ENTRY e {\n x = bf16[3,16,64] parameter(0), sharding={devices=[1,1,$]<=[$]}\n"
          " w = bf16[3,32,64] parameter(1), sharding={devices=[1,1,$]<=[$]}\n"
          " ROOT y = bf16[3,16,32] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0},"
          " lhs_contracting_dims={2}, rhs_contracting_dims={2}, sharding={" +
          result + "}\n}\n";
      for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, std::to_string(n));
      EXPECT_EQ(kinds_in_rings(text, n), std::vector(static_cast<size_t>(n - 1), ReshardKind::kPermute))
          << text;
      expect_rings_agree(text, n);
    }
}

TEST(WindowedProducts, WhatOthersUseTooStaysAGather) {
  const std::string text =
      "ENTRY e {\n x = f32[64,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
      " w = f32[32,16] parameter(1), sharding={devices=[4,1]<=[4]}\n"
      " a = f32[64,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
      " sharding={devices=[4,1]<=[4]}\n"
      " b = f32[64,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
      " sharding={devices=[4,1]<=[4]}\n"
      " ROOT c = f32[64,16] add(a, b), sharding={devices=[4,1]<=[4]}\n}\n";
  EXPECT_THAT(kinds_in_rings(text, 4), testing::ElementsAre(ReshardKind::kAllGather));
}

TEST(WindowedProducts, LongRingsStayGathers) {
  EXPECT_THAT(
      kinds_in_rings("ENTRY e {\n x = f32[64,64] parameter(0), sharding={devices=[64,1]<=[64]}\n"
                     " w = f32[64,12] parameter(1), sharding={devices=[64,1]<=[64]}\n"
                     " ROOT a = f32[64,12] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
                     " sharding={devices=[64,1]<=[64]}\n}\n",
                     64),
      testing::ElementsAre(ReshardKind::kAllGather));
}

TEST(WindowedProducts, ComputeTheSameUnderRandomShardings) {
  int64_t windowed = 0;
  for (const int64_t devices : {2, 4, 6, 8, 12})
    for (uint32_t seed = 0; seed < 24; ++seed) {
      test::RandomShardings shardings(devices, seed * 100 + static_cast<uint32_t>(devices));
      const std::string text = fmt::format(
          "ENTRY e {{\n x = f32[24,48] parameter(0), sharding={}\n w = f32[48,96] parameter(1), sharding={}\n"
          " v = f32[96,24] parameter(2), sharding={}\n"
          " h = f32[24,96] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, sharding={}\n"
          " t = f32[24,96] tanh(h)\n"
          " ROOT y = f32[24,24] dot(t, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}},"
          " sharding={}\n}}\n",
          shardings.next(2), shardings.next(2), shardings.next(2), shardings.next(2), shardings.next(2));
      for (const Resharding& one : partitioned(text, rings(devices)).reshardings) windowed += one.windowed;
      expect_rings_agree(text, devices);
    }
  EXPECT_GT(windowed, 50);
}

// The gathered operand as the devices of the ring have it together, or the summands of one of them.
TEST(WindowedProducts, FromTheThresholdOn) {
  constexpr Product kGathered{240, 48, 24, 0, 0, 0}, kScattered{24, 480, 24, 1, 0, 0};
  constexpr int64_t kBytes[] = {48 * 24 * 4, 24 * 24 * 4};
  const Product* const products[] = {&kGathered, &kScattered};
  for (size_t i = 0; i < 2; ++i) {
    const std::string text = text_of(*products[i], 4);
    for (const int64_t beyond : {0, 1}) {
      const Partitioned made = partitioned(text, rings_from(4, kBytes[i] + beyond));
      EXPECT_EQ(made.windowed.rings, 1 - beyond) << text;
      EXPECT_EQ(made.windowed.small, beyond) << text;
      EXPECT_EQ(made.reshardings.size(), beyond ? 1u : 3u) << text;
    }
  }
}

TEST(WindowedProducts, ThatWouldGainNothingStay) {
  const std::string text = text_of({240, 48, 24, 0, 0, 0}, 4);
  PartitionOptions options = rings_from(4, 0);
  // Three quarters of 4,608 B in 3.456 us; 2 x 60 x 48 x 24 FLOP.
  options.windowed.ring_bytes_per_second = 1e9;
  const auto rings_of_products_that_take = [&](double seconds) {
    options.windowed.flops_per_second = [seconds](ElementType) { return 2.0 * 60 * 48 * 24 / seconds; };
    return partitioned(text, options).windowed.rings;
  };
  // The exchange that nothing overlaps with takes half of it: more than a short product does.
  EXPECT_EQ(rings_of_products_that_take(1.7e-6), 0);
  EXPECT_EQ(rings_of_products_that_take(1.8e-6), 1);
  EXPECT_EQ(rings_of_products_that_take(1), 1);
  // Of two devices the exchange is all that there is.
  options.devices = 2;
  EXPECT_EQ(partitioned(text_of({240, 48, 24, 0, 0, 0}, 2), options).windowed.unpaid, 1);
}

TEST(WindowedProducts, NeverSendMoreThanTheCollective) {
  for (const int64_t devices : {2, 4, 6, 8})
    for (uint32_t seed = 0; seed < 24; ++seed) {
      test::RandomShardings shardings(devices, seed * 10 + static_cast<uint32_t>(devices));
      const std::string text = fmt::format(
          "ENTRY e {{\n x = f32[24,48] parameter(0), sharding={}\n w = f32[48,96] parameter(1), sharding={}\n"
          " ROOT h = f32[24,96] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, "
          "sharding={}\n}}\n",
          shardings.next(2), shardings.next(2), shardings.next(2));
      EXPECT_LE(bytes_sent(partitioned(text, rings(devices))),
                bytes_sent(partitioned(text, {.devices = devices})))
          << text;
    }
}

// A product that added what arrives would wait for it.
TEST(WindowedProducts, ScatteredSumsAreAddedBehindTheProducts) {
  const Partitioned made = partitioned(text_of({24, 480, 24, 1, 0, 0}, 4), rings(4));
  int64_t barriers = 0, adjacent = 0;
  const Module& module = made.module;
  for (const Instruction& instruction : module.instructions) {
    barriers += instruction.opcode == Opcode::kOptimizationBarrier;
    if (instruction.opcode != Opcode::kAdd || !instruction.shape->is_array() ||
        instruction.shape->rank() != 2)
      continue;
    for (const InstructionId operand : instruction.operands)
      adjacent += module[operand].opcode == Opcode::kDot;
  }
  EXPECT_EQ(barriers, 2);  // the first product of each way stays as it is
  EXPECT_EQ(adjacent, 0);
}

// The pattern of context parallelism: queries, keys and values cut along the sequence.
TEST(WindowedProducts, AttentionOverACutSequenceIsRingAttention) {
  constexpr int64_t kDevices = 8, kHeads = 4, kLength = 256, kWidth = 32;
  const std::string text =
      "max {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n"
      "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
      "ENTRY e {\n q = f32[4,256,32] parameter(0), sharding={devices=[1,8,1]<=[8]}\n"
      " k = f32[4,256,32] parameter(1), sharding={devices=[1,8,1]<=[8]}\n"
      " v = f32[4,256,32] parameter(2), sharding={devices=[1,8,1]<=[8]}\n"
      " s = f32[4,256,256] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},"
      " rhs_contracting_dims={2}, sharding={devices=[1,8,1]<=[8]}\n"
      " low = f32[] constant(-inf)\n zero = f32[] constant(0)\n"
      " m = f32[4,256] reduce(s, low), dimensions={2}, to_apply=max\n"
      " mb = f32[4,256,256] broadcast(m), dimensions={0,1}\n d = f32[4,256,256] subtract(s, mb)\n"
      " x = f32[4,256,256] exponential(d)\n"
      " l = f32[4,256] reduce(x, zero), dimensions={2}, to_apply=sum\n"
      " lb = f32[4,256,256] broadcast(l), dimensions={0,1}\n p = f32[4,256,256] divide(x, lb)\n"
      " ROOT o = f32[4,256,32] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},"
      " rhs_contracting_dims={1}, sharding={devices=[1,8,1]<=[8]}\n}\n";
  const Partitioned made = partitioned(text, rings(kDevices));
  EXPECT_EQ(made.reshardings.size(), static_cast<size_t>(2 * (kDevices - 1)));
  for (const Resharding& one : made.reshardings) EXPECT_EQ(one.kind, ReshardKind::kPermute);
  const double keys = 4.0 * kHeads * kLength * kWidth;
  EXPECT_NEAR(static_cast<double>(bytes_sent(made)) / (2 * (kDevices - 1) * keys / kDevices), 1, 0.02);
  expect_rings_agree(text, kDevices);
}

}  // namespace
}  // namespace hlosim
