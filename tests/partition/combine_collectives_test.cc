// Small collectives as one.
#include "partition/combine_collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partition_check/partition_check.h"
#include "support/modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;

constexpr int64_t kMany = int64_t{1} << 30;

PartitionOptions up_to(int64_t bytes) {
  return {.devices = 4, .combine_reductions_bytes = bytes, .combine_moves_bytes = bytes};
}

/// How many there are of the kind.
size_t collectives(const std::string& text, ReshardKind kind, int64_t bytes = kMany) {
  const auto made = partition(module_or_fail("HloModule m\n" + text), op_table(), up_to(bytes));
  EXPECT_TRUE(made) << made.error().message;
  std::set<InstructionId> found;
  for (const Resharding& one : made->reshardings)
    if (one.kind == kind) found.insert(one.collective);
  return found.size();
}

void expect_combined_agrees(const std::string& text) {
  const auto check = check_partition(module_or_fail("HloModule m\n" + text), op_table(), up_to(kMany), {});
  ASSERT_TRUE(check) << check.error().message << "\n" << text;
  EXPECT_TRUE(check->agrees()) << text;
}

/// Three arrays, each gathered for itself.
constexpr std::string_view kGathers =
    "ENTRY e {\n a = f32[16,4] parameter(0), sharding={devices=[4,1]<=[4]}\n"
    " b = f32[10,4] parameter(1), sharding={devices=[4,1]<=[4]}\n"
    " c = bf16[8] parameter(2), sharding={devices=[4]<=[4]}\n"
    " x = f32[16,4] copy(a), sharding={replicated}\n y = f32[10,4] copy(b), sharding={replicated}\n"
    " z = bf16[8] copy(c), sharding={replicated}\n"
    " ROOT t = (f32[16,4], f32[10,4], bf16[8]) tuple(x, y, z),"
    " sharding={{replicated}, {replicated}, {replicated}}\n}\n";

/// The gradients of two products along the same rows.
constexpr std::string_view kSums =
    "ENTRY e {\n x = f32[64,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
    " g = f32[64,16] parameter(1), sharding={devices=[4,1]<=[4]}\n"
    " h = f32[64,8] parameter(2), sharding={devices=[4,1]<=[4]}\n"
    " v = f32[32,16] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={$}\n"
    " w = f32[32,8] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={$}\n"
    " ROOT t = (f32[32,16], f32[32,8]) tuple(v, w), sharding={{$}, {$}}\n}\n";

std::string sums(const std::string& sharding) {
  std::string made;
  for (const char c : kSums) made += c == '$' ? sharding : std::string(1, c);
  return made;
}

TEST(CombineCollectives, Gathers) {
  EXPECT_EQ(collectives(std::string(kGathers), ReshardKind::kAllGather), 1u);
  EXPECT_EQ(collectives(std::string(kGathers), ReshardKind::kAllGather, 0), 3u);
  expect_combined_agrees(std::string(kGathers));
}

TEST(CombineCollectives, UpToTheBytesOfTheirArrays) {
  // 256, 192 (12 rows, the last two padding) and 16 bytes.
  EXPECT_EQ(collectives(std::string(kGathers), ReshardKind::kAllGather, 256 + 192), 2u);
  EXPECT_EQ(collectives(std::string(kGathers), ReshardKind::kAllGather, 256 + 192 + 16), 1u);
  EXPECT_EQ(collectives(std::string(kGathers), ReshardKind::kAllGather, 255), 2u);
}

TEST(CombineCollectives, AllReducesAndReduceScatters) {
  EXPECT_EQ(collectives(sums("replicated"), ReshardKind::kAllReduce), 1u);
  EXPECT_EQ(collectives(sums("replicated"), ReshardKind::kAllReduce, 0), 2u);
  EXPECT_EQ(collectives(sums("devices=[4,1]<=[4]"), ReshardKind::kReduceScatter), 1u);
  expect_combined_agrees(sums("replicated"));
  expect_combined_agrees(sums("devices=[4,1]<=[4]"));
}

TEST(CombineCollectives, OneThatNeedsAnotherStaysAlone) {
  const std::string chain =
      "ENTRY e {\n x = f32[8,64] parameter(0), sharding={devices=[1,4]<=[4]}\n"
      " w = f32[64,64] parameter(1), sharding={devices=[4,1]<=[4]}\n"
      " a = f32[8,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}\n"
      " b = f32[8,64] copy(a), sharding={devices=[1,4]<=[4]}\n"
      " c = f32[8,64] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}\n"
      " ROOT d = f32[8,64] add(a, c), sharding={replicated}\n}\n";
  EXPECT_EQ(collectives(chain, ReshardKind::kAllReduce), 2u);
  expect_combined_agrees(chain);
}

TEST(CombineCollectives, OnlyBetweenTheSameDevicesAndAlongOneDimension) {
  const std::string other =
      "ENTRY e {\n a = f32[16,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}\n"
      " b = f32[16,4] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}\n"
      " c = f32[16,4] parameter(2), sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}\n"
      " x = f32[16,4] copy(a), sharding={replicated}\n y = f32[16,4] copy(b), sharding={replicated}\n"
      " z = f32[16,4] copy(c), sharding={replicated}\n"
      " ROOT t = (f32[16,4], f32[16,4], f32[16,4]) tuple(x, y, z),"
      " sharding={{replicated}, {replicated}, {replicated}}\n}\n";
  EXPECT_EQ(collectives(other, ReshardKind::kAllGather), 3u);
}

TEST(CombineCollectives, WhatIsGatheredTwiceIsGatheredOnce) {
  const std::string twice =
      "ENTRY e {\n x = f32[8,2] parameter(0), sharding={devices=[4,1]<=[4]}\n"
      " ROOT y = f32[8,2] custom-call(x), custom_call_target=\"_SPMDInternalOp_RotateRight\","
      " backend_config=\"dimension=0,amount=2\", sharding={devices=[4,1]<=[4]}\n}\n";
  EXPECT_EQ(collectives(twice, ReshardKind::kAllGather, 0), 1u);
  expect_combined_agrees(twice);
}

TEST(CombineCollectives, SmallerSizesAreCombinedAsTheFullOnesWere) {
  // At full size 64 MiB of all-reduces are two, at the smaller sizes of the check they would be one.
  const std::string text =
      "HloModule m\nENTRY e {\n x = f32[4096,4096] parameter(0), sharding={devices=[4,1]<=[4]}\n"
      " g = f32[4096,2048] parameter(1), sharding={devices=[4,1]<=[4]}\n"
      " h = f32[4096,2048] parameter(2), sharding={devices=[4,1]<=[4]}\n"
      " v = f32[4096,2048] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      " w = f32[4096,2048] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      " ROOT t = (f32[4096,2048], f32[4096,2048]) tuple(v, w), sharding={{replicated}, {replicated}}\n}\n";
  const auto check = check_partition(module_or_fail(text), op_table(), {.devices = 4}, {});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->agrees());
  ASSERT_EQ(check->notes.size(), 1u);
  EXPECT_THAT(check->notes[0], testing::HasSubstr("compared at smaller sizes"));
}

}  // namespace
}  // namespace hlosim
