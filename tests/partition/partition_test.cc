// Partitioned modules compute what the modules compute, whatever lies in the padding.
#include "partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "partition_check/partition_check.h"
#include "support/module_files.h"
#include "support/modules.h"
#include "support/random_shardings.h"

namespace hlosim {
namespace {

using test::module_or_fail;
using testing::HasSubstr;

std::string entry(const std::string& body) { return "HloModule m\n" + body; }

/// `$n` in the text becomes a sharding of n dimensions.
std::string with_shardings(const std::string& text, test::RandomShardings& shardings) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$')
      made += text[i];
    else
      made += "sharding=" + shardings.next(static_cast<size_t>(text[++i] - '0'));
  }
  return made;
}

void expect_agrees(const std::string& text, int64_t devices) {
  const Module module = module_or_fail(text);
  const auto check = check_partition(module, op_table(), {.devices = devices}, {});
  ASSERT_TRUE(check) << check.error().message << "\n" << text;
  EXPECT_TRUE(check->agrees()) << text;
}

constexpr std::string_view kSum =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT s = f32[] add(a, b)\n}\n";

constexpr std::string_view kGreater =
    "ge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT s = pred[] compare(a, b), direction=GE\n}\n";

/// Modules of all families, sizes even and uneven.
const std::vector<std::string>& modules() {
  static const std::vector<std::string> kModules = {
      "ENTRY e {\n x = f32[8,12] parameter(0), $2\n ROOT y = f32[8,12] copy(x), $2\n}\n",
      "ENTRY e {\n x = f32[5,7] parameter(0), $2\n ROOT y = f32[5,7] negate(x), $2\n}\n",
      "ENTRY e {\n x = f32[6,7] parameter(0), $2\n w = f32[7,10] parameter(1), $2\n"
      " ROOT y = f32[6,10] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, $2\n}\n",
      "ENTRY e {\n x = f32[4,6,8] parameter(0), $3\n w = f32[4,8,5] parameter(1), $3\n"
      " y = f32[4,6,5] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},"
      " rhs_contracting_dims={1}\n ROOT t = f32[5,4,6] transpose(y), dimensions={2,0,1}, $3\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[9,10] parameter(0), $2\n c = f32[] parameter(1)\n"
          " ROOT y = f32[10] reduce(x, c), dimensions={0}, to_apply=sum, $1\n}\n",
      "most {\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] "
      "parameter(3)\n"
      " g = pred[] compare(a, b), direction=GE\n m = f32[] select(g, a, b)\n k = s32[] select(g, i, j)\n"
      " ROOT t = (f32[], s32[]) tuple(m, k)\n}\n"
      "ENTRY e {\n x = f32[9,10] parameter(0), $2\n i = s32[9,10] iota(), iota_dimension=0, $2\n"
      " c = f32[] constant(-inf)\n z = s32[] constant(0)\n"
      " ROOT y = (f32[10], s32[10]) reduce(x, i, c, z), dimensions={0}, to_apply=most\n}\n",
      "ENTRY e {\n x = f32[4,6] parameter(0), $2\n y = f32[24] reshape(x), $1\n"
      " ROOT z = f32[2,12] reshape(y), $2\n}\n",
      "ENTRY e {\n x = f32[7] parameter(0), $1\n y = f32[7,5] broadcast(x), dimensions={0}, $2\n"
      " i = f32[7,5] iota(), iota_dimension=0, $2\n ROOT z = f32[7,5] add(y, i), $2\n}\n",
      "ENTRY e {\n x = f32[20,9] parameter(0), $2\n ROOT y = f32[7,9] slice(x), slice={[3:17:2],[0:9]}, "
      "$2\n}\n",
      "ENTRY e {\n x = f32[9,4] parameter(0), $2\n c = f32[] constant(3)\n"
      " ROOT y = f32[14,4] pad(x, c), padding=2_3x0_0, $2\n}\n",
      "ENTRY e {\n x = f32[5,4] parameter(0), $2\n z = f32[6,4] parameter(1), $2\n"
      " ROOT y = f32[11,4] concatenate(x, z), dimensions={0}, $2\n}\n",
      "ENTRY e {\n x = f32[7,6] parameter(0), $2\n ROOT y = f32[7,6] reverse(x), dimensions={0,1}, $2\n}\n",
      "ENTRY e {\n x = f32[11,6] parameter(0), $2\n i = s32[] parameter(1)\n j = s32[] parameter(2)\n"
      " ROOT y = f32[4,6] dynamic-slice(x, i, j), dynamic_slice_sizes={4,6}, $2\n}\n",
      "ENTRY e {\n x = f32[11,6] parameter(0), $2\n u = f32[4,6] parameter(1), $2\n i = s32[] parameter(2)\n"
      " j = s32[] parameter(3)\n ROOT y = f32[11,6] dynamic-update-slice(x, u, i, j), $2\n}\n",
      "ENTRY e {\n x = f32[7,5] parameter(0), $2\n i = s32[6,1] parameter(1), $2\n"
      " ROOT y = f32[6,5] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},"
      " index_vector_dim=1, slice_sizes={1,5}, $2\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[7,5] parameter(0), $2\n i = s32[6,1] parameter(1), $2\n u = f32[6,5] "
          "parameter(2), $2\n"
          " ROOT y = f32[7,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},"
          " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum, $2\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[13,4] parameter(0), $2\n c = f32[] constant(0)\n"
          " ROOT y = f32[7,4] reduce-window(x, c), window={size=3x1 stride=2x1 pad=1_1x0_0}, to_apply=sum, "
          "$2\n}\n",
      "ENTRY e {\n x = f32[2,10,4] parameter(0), $3\n w = f32[3,4,6] parameter(1), $3\n"
      " ROOT y = f32[2,10,6] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, $3\n}\n",
      "less {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), "
      "direction=LT\n}\n"
      "ENTRY e {\n x = f32[6,9] parameter(0), $2\n ROOT y = f32[6,9] sort(x), dimensions={1}, to_apply=less, "
      "$2\n}\n",
      "body {\n s = (s32[], f32[6,6]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " x = f32[6,6] get-tuple-element(s), index=1\n one = s32[] constant(1)\n n = s32[] add(i, one)\n"
      " y = f32[6,6] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, $2\n"
      " z = f32[6,6] tanh(y)\n ROOT t = (s32[], f32[6,6]) tuple(n, z)\n}\n"
      "test {\n s = (s32[], f32[6,6]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " c = s32[] constant(3)\n ROOT l = pred[] compare(i, c), direction=LT\n}\n"
      "ENTRY e {\n x = f32[6,6] parameter(0), $2\n z = s32[] constant(0)\n t = (s32[], f32[6,6]) tuple(z, "
      "x)\n"
      " w = (s32[], f32[6,6]) while(t), condition=test, body=body\n"
      " ROOT r = f32[6,6] get-tuple-element(w), index=1, $2\n}\n",
      "yes {\n x = f32[5,8] parameter(0), $2\n ROOT y = f32[5,8] negate(x), $2\n}\n"
      "no {\n x = f32[5,8] parameter(0), $2\n ROOT y = f32[5,8] abs(x), $2\n}\n"
      "ENTRY e {\n p = pred[] parameter(0)\n x = f32[5,8] parameter(1), $2\n"
      " c = f32[5,8] conditional(p, x, x), true_computation=yes, false_computation=no\n"
      " ROOT r = f32[5,8] add(c, x), $2\n}\n",
      "ENTRY e {\n x = f32[9,4] parameter(0), $2\n c = f32[] constant(3)\n"
      " ROOT y = f32[20,4] pad(x, c), padding=1_2_1x1_-1_0, $2\n}\n",
      "ENTRY e {\n x = f32[7,4] parameter(0), $2\n c = f32[] constant(3)\n"
      " ROOT y = f32[17,4] pad(x, c), padding=-1_-1_2x0_0, $2\n}\n",
      "ENTRY e {\n x = f32[11,4] parameter(0), $2\n ROOT y = f32[11,4] custom-call(x),"
      " custom_call_target=\"_SPMDInternalOp_RotateRight\", backend_config=\"dimension=0,amount=4\", $2\n}\n",
      "ENTRY e {\n x = f32[13,4] parameter(0), $2\n y = (f32[5,4], f32[5,4], f32[5,4]) custom-call(x),"
      " custom_call_target=\"_SPMDInternalOp_MultiSlice\", backend_config=\"dimension=0,amount=2,"
      "start_indices=[1, 0],limit_indices=[10, 4],strides=[2, 1]\"\n"
      " ROOT z = f32[5,4] get-tuple-element(y), index=2, $2\n}\n",
      std::string(kSum) + std::string(kGreater) +
          "ENTRY e {\n x = f32[12,5] parameter(0), $2\n s = f32[6,5] parameter(1), $2\n c = f32[] "
          "constant(2)\n"
          " ROOT y = f32[12,5] select-and-scatter(x, s, c), window={size=3x1 stride=2x1 pad=0_1x0_0}, "
          "select=ge,"
          " scatter=sum, $2\n}\n",
      std::string(kSum) + std::string(kGreater) +
          "ENTRY e {\n x = f32[16,6] parameter(0), $2\n s = f32[8,3] parameter(1), $2\n c = f32[] "
          "constant(0)\n"
          " ROOT y = f32[16,6] select-and-scatter(x, s, c), window={size=2x2 stride=2x2}, select=ge,"
          " scatter=sum, $2\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[13,4] parameter(0), $2\n c = f32[] constant(1)\n"
          " ROOT y = f32[13,4] reduce-window(x, c), window={size=13x1 pad=12_0x0_0}, to_apply=sum, $2\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[3,10] parameter(0), $2\n c = f32[] parameter(1)\n"
          " ROOT y = f32[3,10] reduce-window(x, c), window={size=1x10 pad=0_0x0_9}, to_apply=sum, $2\n}\n",
      "ENTRY e {\n x = f32[4,6,5] parameter(0), $3\n g = f32[5] parameter(1), $1\n b = f32[5] parameter(2), "
      "$1\n"
      " t = (f32[4,6,5], f32[5], f32[5]) batch-norm-training(x, g, b), epsilon=0.1, feature_index=2\n"
      " m = f32[5] get-tuple-element(t), index=1\n v = f32[5] get-tuple-element(t), index=2\n"
      " ROOT y = f32[4,6,5] batch-norm-inference(x, g, b, m, v), epsilon=0.1, feature_index=2, $3\n}\n",
      "ENTRY e {\n x = f32[2,10,8] parameter(0), $3\n w = f32[3,2,12] parameter(1), $3\n"
      " ROOT y = f32[2,10,12] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f,"
      " feature_group_count=4, $3\n}\n",
      "ENTRY e {\n x = f32[8,10,3] parameter(0), $3\n w = f32[3,3,12] parameter(1), $3\n"
      " ROOT y = f32[2,10,12] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f,"
      " batch_group_count=4, $3\n}\n",
      "ENTRY e {\n x = f32[8,9] parameter(0), $2\n w = f32[3,9,6] parameter(1), $3\n g = s32[3] "
      "constant({3,1,4})\n"
      " ROOT y = f32[8,6] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},"
      " lhs_ragged_dims={0}, rhs_group_dims={0}, $2\n}\n",
      "ENTRY e {\n x = c64[6,8] parameter(0), $2\n ROOT y = c64[6,8] fft(x), fft_type=FFT, fft_length={8},"
      " $2\n}\n",
      "ENTRY e {\n x = f32[7,9,4] parameter(0), $3\n c = s32[7,5,1] parameter(1), $3\n"
      " r = s32[7,5,1] iota(), iota_dimension=0, $3\n i = s32[7,5,2] concatenate(r, c), dimensions={2}\n"
      " ROOT y = f32[7,5,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0,1}, start_index_map={0,1},"
      " index_vector_dim=2, slice_sizes={1,1,4}, $3\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[7,6,4] parameter(0), $3\n r = s16[6] iota(), iota_dimension=0, $1\n"
          " q = s32[6] convert(r)\n s = s32[5,6,1] broadcast(q), dimensions={1}\n c = s32[5,6,1] "
          "parameter(1), $3\n"
          " u = f32[5,6,4] parameter(2), $3\n i = s32[5,6,2] concatenate(c, s), dimensions={2}, $3\n"
          " ROOT y = f32[7,6,4] scatter(x, i, u), update_window_dims={2}, inserted_window_dims={0,1},"
          " scatter_dims_to_operand_dims={0,1}, index_vector_dim=2, to_apply=sum, $3\n}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[9,4] parameter(0), $2\n i = s32[9,1] iota(), iota_dimension=0, $2\n"
          " u = f32[9,4] parameter(1), $2\n"
          " ROOT y = f32[9,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},"
          " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum, $2\n}\n",
      "ENTRY e {\n x = f32[2,19,4] parameter(0), $3\n w = f32[3,4,6] parameter(1), $3\n"
      " ROOT y = f32[2,11,6] convolution(x, w), window={size=3 rhs_dilate=4}, dim_labels=b0f_0io->b0f, $3\n"
      "}\n",
      std::string(kSum) +
          "ENTRY e {\n x = f32[13,4] parameter(0), $2\n c = f32[] constant(0)\n"
          " ROOT y = f32[4,4] reduce-window(x, c), window={size=4x1 stride=3x1 pad=0_2x0_0}, to_apply=sum,"
          " $2\n}\n",
      "ENTRY e {\n x = f32[12,8] parameter(0), $2\n y = f32[8,12] reshape(x), $2\n"
      " ROOT z = f32[3,32] reshape(y), $2\n}\n",
  };
  return kModules;
}

TEST(Partition, ComputesTheSameWhateverTheShardings) {
  for (const int64_t devices : {2, 3, 4, 6, 8, 12, 16})
    for (size_t i = 0; i < modules().size(); ++i) {
      test::RandomShardings shardings(devices,
                                      static_cast<uint32_t>(devices * 100) + static_cast<uint32_t>(i));
      for (int turn = 0; turn < 4; ++turn)
        expect_agrees(entry(with_shardings(modules()[i], shardings)), devices);
    }
}

TEST(Partition, ConvolutionsWithAnOperandBehindTheKernel) {
  // XLA's verifier looks at none of these.
  const auto made = partition(
      module_or_fail(entry("ENTRY main {\n x = f32[2,8,2] parameter(0), sharding={devices=[2,1,1]<=[2]}\n"
                           " k = f32[3,2,4] parameter(1)\n y = f32[4] parameter(2)\n"
                           " ROOT c = f32[2,6,4] convolution(x, k, y), window={size=3}, "
                           "dim_labels=b0f_0io->b0f\n}\n")),
      op_table(), {.devices = 2});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(to_text_without_layout(made->module[made->module.entry_computation().root].shape), "f32[2,6,4]");
}

TEST(Partition, FourDevicesInAnotherOrder) {
  expect_agrees(entry("ENTRY e {\n x = f32[6,4] parameter(0), sharding={devices=[4,1]3,1,0,2}\n"
                      " ROOT y = f32[6,4] negate(x), sharding={devices=[1,4]0,1,3,2}\n}\n"),
                4);
}

TEST(Partition, RegionsPartitionedByHand) {
  expect_agrees(
      entry("ENTRY e {\n x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}\n"
            " a = f32[8,6] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[4,1]<=[4]}\n"
            " b = f32[2,6] custom-call(a), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n"
            " c = f32[2,6] multiply(b, b), sharding={manual}\n"
            " d = f32[2,6] custom-call(c), custom_call_target=\"Sharding\", sharding={manual}\n"
            " ROOT f = f32[8,6] custom-call(d), custom_call_target=\"SPMDShardToFullShape\","
            " sharding={devices=[4,1]<=[4]}\n}\n"),
      4);
}

std::vector<ReshardKind> kinds(const std::string& text, int64_t devices) {
  const Module module = module_or_fail(entry(text));
  const auto made = partition(module, op_table(), {.devices = devices});
  EXPECT_TRUE(made);
  std::vector<ReshardKind> all;
  for (const Resharding& one : made->reshardings) all.push_back(one.kind);
  return all;
}

TEST(Partition, FullyShardedParametersAreGatheredOnceEach) {
  EXPECT_THAT(kinds("ENTRY e {\n x = f32[64,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
                    " w = f32[32,16] parameter(1), sharding={devices=[4,1]<=[4]}\n"
                    " a = f32[64,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
                    " sharding={devices=[4,1]<=[4]}\n"
                    " b = f32[64,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
                    " sharding={devices=[4,1]<=[4]}\n"
                    " ROOT c = f32[64,16] add(a, b), sharding={devices=[4,1]<=[4]}\n}\n",
                    4),
              testing::ElementsAre(ReshardKind::kAllGather));
}

TEST(Partition, GradientsOfShardedParametersAreScattered) {
  EXPECT_THAT(kinds("ENTRY e {\n x = f32[64,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
                    " g = f32[64,16] parameter(1), sharding={devices=[4,1]<=[4]}\n"
                    " ROOT w = f32[32,16] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
                    " sharding={devices=[4,1]<=[4]}\n}\n",
                    4),
              testing::ElementsAre(ReshardKind::kReduceScatter));
}

TEST(Partition, ColumnsThenRowsOfWeightsTakeOneAllReduce) {
  EXPECT_THAT(kinds("ENTRY e {\n x = f32[64,32] parameter(0), sharding={replicated}\n"
                    " w = f32[32,128] parameter(1), sharding={devices=[1,4]<=[4]}\n"
                    " v = f32[128,32] parameter(2), sharding={devices=[4,1]<=[4]}\n"
                    " h = f32[64,128] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                    " t = f32[64,128] tanh(h)\n"
                    " ROOT y = f32[64,32] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0},"
                    " sharding={replicated}\n}\n",
                    4),
              testing::ElementsAre(ReshardKind::kAllReduce));
}

/// Rows cut along data, features along model; weights have columns along model.
std::string product_of_cut_features(int64_t rows, int64_t features, int64_t columns) {
  const auto text = [](int64_t number) { return std::to_string(number); };
  return "ENTRY e {\n x = f32[" + text(rows) + "," + text(features) +
         "] parameter(0), sharding={devices=[2,4]<=[8]}\n w = f32[" + text(features) + "," + text(columns) +
         "] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}\n ROOT y = f32[" +
         text(rows) + "," + text(columns) +
         "] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
         "sharding={devices=[2,4]<=[8]}\n}\n";
}

TEST(Partition, AxesOfWeightsAndResultStayWhereTheyAre) {
  // Few columns: sums of all of them would be fewer bytes than the features that come from all devices.
  for (const int64_t columns : {8, 64, 4096})
    EXPECT_THAT(kinds(product_of_cut_features(512, 1024, columns), 8),
                testing::ElementsAre(ReshardKind::kAllGather))
        << columns;
}

TEST(Partition, GradientsOfWeightsSumUpWhereTheirColumnsAre) {
  // Both operands have the second axis; the result has it along its columns, as the right one, the smaller.
  EXPECT_THAT(kinds("ENTRY e {\n x = f32[64,4096] parameter(0), sharding={devices=[2,4]<=[8]}\n"
                    " g = f32[64,64] parameter(1), sharding={devices=[2,4]<=[8]}\n"
                    " ROOT w = f32[4096,64] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
                    " sharding={devices=[2,4]<=[8]}\n}\n",
                    8),
              testing::ElementsAre(ReshardKind::kAllGather, ReshardKind::kReduceScatter));
}

TEST(Partition, WhatHasNoRuleIsListed) {
  const Module module =
      module_or_fail(entry("ENTRY e {\n x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}\n"
                           " ROOT y = f32[8,4] custom-call(x), custom_call_target=\"Unknown\","
                           " sharding={devices=[2,1]<=[2]}\n}\n"));
  const auto made = partition(module, op_table(), {});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->replicated.size(), 1u);
  EXPECT_EQ(made->replicated[0].name, "y");
  EXPECT_EQ(made->replicated[0].bytes, 64);  // the half that a device lacks
}

TEST(Partition, FaultsHaveTheirPlace) {
  const auto fault = [](const std::string& sharding, int64_t devices) {
    const Module module =
        module_or_fail(entry("ENTRY e {\n ROOT x = f32[8,4] parameter(0), sharding={" + sharding + "}\n}\n"));
    const auto made = partition(module, op_table(), {.devices = devices});
    return made ? "none" : render(made.error());
  };
  EXPECT_THAT(fault("devices=[2,2]<=[4]", 8),
              HasSubstr("test.hlo:3:43: error: x: the sharding is for 4 devices, the program for 8"));
  EXPECT_THAT(fault("maximal device=3", 2), HasSubstr("device 3 of 2"));
}

TEST(Partition, ModulesOfOthers) {
  int64_t tried = 0, right = 0;
  for (const auto& file : test::right_modules({.file_tests = 0, .others = 5})) {
    const std::string name = file.filename().string();
    if (name.find("SpmdPartitioning") == std::string::npos) continue;
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    const Module module = module_or_fail(text.str());
    ++tried;
    const auto check = check_partition(module, op_table(), {}, {.max_bytes = int64_t{256} << 20});
    if (!check) continue;
    EXPECT_TRUE(check->agrees()) << name;
    right += check->agrees();
  }
  if (tried == 0) GTEST_SKIP() << "no modules of others";
  EXPECT_GE(right * 4, tried * 3);
}

}  // namespace
}  // namespace hlosim
