#include <gmock/gmock.h>

#include "support/text_module.h"

namespace hlosim {
namespace {

using test::messages_of;
using test::parameters;
using test::root_work;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string contraction(std::initializer_list<std::string_view> shapes, std::string_view root) {
  return "HloModule m\nENTRY main {\n" + parameters(shapes) + "  ROOT r = " + std::string(root) + "\n}\n";
}

std::string contraction_errors(std::initializer_list<std::string_view> shapes, std::string_view root) {
  return messages_of(contraction(shapes, root));
}

/// The shape of a root that the text does not declare.
std::string shape_of(std::initializer_list<std::string_view> shapes, std::string_view root) {
  const Module module = test::module_or_fail(contraction(shapes, root));
  return to_text_without_layout(module.root(module.entry).shape);
}

/// The work of the root, with the module that its shapes belong to.
struct RootWork {
  Module module;
  Work work;
  Work* operator->() { return &work; }
};
RootWork work(std::initializer_list<std::string_view> shapes, std::string_view root) {
  RootWork result{test::module_or_fail(contraction(shapes, root)), {}};
  result.work = root_work(result.module);
  return result;
}

std::string sizes(const RootWork& root) {
  std::string text;
  for (const MatmulWork& m : root.work.matmuls)
    text += fmt::format("{}{}x[{},{}]x[{},{}]", text.empty() ? "" : " + ", m.batch, m.m, m.k, m.k, m.n);
  return text;
}

// ── dot ─────────────────────────────────────────────────────────

TEST(Dot, ResultIsBatchThenFreeDimensions) {
  EXPECT_EQ(shape_of({"f32[5,2,7]", "f32[7,3,5]"},
                     "dot(x0, x1), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={2}, "
                     "rhs_contracting_dims={0}"),
            "f32[5,2,3]");
  EXPECT_EQ(shape_of({"bf16[2,3]", "f32[4]"}, "dot(x0, x1)"), "f32[2,3,4]");
  EXPECT_EQ(
      shape_of({"f32[<=8,3]", "f32[3,4]"}, "dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      "f32[<=8,4]");
  EXPECT_EQ(contraction_errors({"s8[2,3]", "s8[3,4]"},
                               "s32[2,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
            "");
}

TEST(Dot, Constraints) {
  EXPECT_EQ(contraction_errors({"(f32[2],f32[2])", "f32[2]"}, "f32[2] dot(x0, x1)"),
            "dot C1: operand 0 has shape (f32[2], f32[2]), expected an array");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"},
                               "f32[2,4] dot(x0, x1), lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
            "dot C2: lhs has no dimension 2 in f32[2,3]");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"},
                               "f32[2,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={-1}"),
            "dot C2: rhs has no dimension -1 in f32[3,4]");
  EXPECT_EQ(contraction_errors(
                {"f32[2,3]", "f32[3,4]"},
                "f32[2,4] dot(x0, x1), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
                "rhs_contracting_dims={0}"),
            "dot C3: dimension 1 of lhs f32[2,3] is named twice, expected one role a dimension");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"}, "f32[2,4] dot(x0, x1), lhs_contracting_dims={1}"),
            "dot C4: 1 contracting dimensions of f32[2,3] against 0 of f32[3,4]");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"},
                               "f32[2,4] dot(x0, x1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "dot C5: contracting sizes differ: dimension 0 of f32[2,3] is 2, dimension 0 of f32[3,4] is 3");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"}, "f32[2,4] dot(x0, x1), lhs_batch_dims={0}"),
            "dot C6: 1 batch dimensions of f32[2,3] against 0 of f32[3,4]");
  EXPECT_EQ(contraction_errors({"f32[2,3]", "f32[3,4]"},
                               "f32[2,4] dot(x0, x1), lhs_batch_dims={0}, rhs_batch_dims={0}"),
            "dot C7: batch sizes differ: dimension 0 of f32[2,3] is 2, dimension 0 of f32[3,4] is 3");
  EXPECT_THAT(contraction_errors({"f32[2,3]", "f32[3,4]"},
                                 "f32[4,2] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
              HasSubstr("shape equal to f32[2,4], actual shape is f32[4,2]"));
}

TEST(Dot, PackedNibbles) {
  constexpr std::string_view kRest =
      "dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision=";
  const auto with = [&](std::string_view type, std::string_view precision) {
    const std::string shape = std::string(type) + "[2,2]";
    return contraction_errors({shape, shape}, "s32[2,2] " + std::string(kRest) + std::string(precision));
  };
  EXPECT_EQ(with("s8", "{packed_nibble,packed_nibble}"), "");
  EXPECT_EQ(with("s8", "{packed_nibble,default}"),
            "dot: packed_nibble is given for one operand, expected both or none");
  EXPECT_THAT(with("s32", "{packed_nibble,packed_nibble}"),
              StartsWith("dot: packed_nibble needs 8-bit integers, operand 0"));
}

TEST(Dot, WorkIsOneProduct) {
  RootWork batched = work({"bf16[5,6,2,7]", "bf16[5,7,3]"},
                          "f32[5,6,2,3] dot(x0, x1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                          "lhs_contracting_dims={3}, rhs_contracting_dims={1}");
  EXPECT_EQ(sizes(batched), "5x[12,7]x[7,3]");
  EXPECT_EQ(batched->matmuls[0].lhs, ElementType::kBF16);
  EXPECT_EQ(sizes(work({"f32[0,3]", "f32[3,4]"},
                       "f32[0,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")),
            "");
}

TEST(Dot, PrecisionComesFromOperandsOrAlgorithm) {
  const auto precision = [](std::string_view attribute) {
    return work({"f32[2,3]", "f32[3,4]"},
                "f32[2,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}" +
                    std::string(attribute))
        ->matmuls[0]
        .precision;
  };
  EXPECT_EQ(precision(""), MatmulPrecision::kDefault);
  EXPECT_EQ(precision(", operand_precision={default,high}"), MatmulPrecision::kHigh);
  EXPECT_EQ(precision(", operand_precision={HIGHEST,high}"), MatmulPrecision::kHighest);
  EXPECT_EQ(precision(", operand_precision={highest,highest}, algorithm=dot_bf16_bf16_f32"),
            MatmulPrecision::kDefault);
  EXPECT_EQ(precision(", algorithm=dot_bf16_bf16_f32_x3"), MatmulPrecision::kHigh);
  EXPECT_EQ(precision(", algorithm=dot_bf16_bf16_f32_x6"), MatmulPrecision::kHighest);
  EXPECT_EQ(precision(", algorithm=dot_bf16_bf16_f32_x9"), MatmulPrecision::kHighest);
  EXPECT_EQ(precision(", algorithm=dot_tf32_tf32_f32"), MatmulPrecision::kHigh);
  EXPECT_EQ(precision(", algorithm=dot_tf32_tf32_f32_x3"), MatmulPrecision::kHighest);
  EXPECT_EQ(precision(", algorithm=dot_f32_f32_f32"), MatmulPrecision::kHighest);
}

// ── ragged-dot ──────────────────────────────────────────────────

constexpr std::string_view kRaggedFree =
    "ragged-dot(x0, x1, x2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
    "rhs_group_dims={0}";

TEST(RaggedDot, ThreeModes) {
  EXPECT_EQ(shape_of({"f32[11,5]", "f32[3,5,7]", "s32[3]"}, kRaggedFree), "f32[11,7]");
  EXPECT_EQ(
      shape_of(
          {"f32[11,5]", "f32[5,7]", "s32[3]"},
          "ragged-dot(x0, x1, x2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}"),
      "f32[3,11,7]");
  EXPECT_EQ(
      shape_of({"f32[19,11,5]", "f32[19,5,7]", "s32[3]"},
               "ragged-dot(x0, x1, x2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
               "rhs_contracting_dims={1}, lhs_ragged_dims={0}"),
      "f32[19,11,7]");
  EXPECT_EQ(
      shape_of({"f32[19,11,5]", "f32[3,19,5,7]", "s32[19,3]"},
               "ragged-dot(x0, x1, x2), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
               "rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}"),
      "f32[19,11,7]");
}

TEST(RaggedDot, Constraints) {
  const auto with = [](std::string_view sizes, std::string_view attributes) {
    return contraction_errors(
        {"f32[11,5]", "f32[3,5,7]", sizes},
        "f32[11,7] ragged-dot(x0, x1, x2), lhs_contracting_dims={1}, rhs_contracting_dims={1}" +
            std::string(attributes));
  };
  EXPECT_EQ(with("s32[3]", ", lhs_ragged_dims={0}, rhs_group_dims={0}"), "");
  EXPECT_EQ(with("s32[3]", ", rhs_group_dims={0}"),
            "ragged-dot C8: lhs_ragged_dims is {}, expected one dimension");
  EXPECT_THAT(with("s32[3]", ", lhs_ragged_dims={2}, rhs_group_dims={0}"),
              StartsWith("ragged-dot C8: lhs_ragged_dims is 2"));
  EXPECT_EQ(
      with("s32[3]", ", lhs_ragged_dims={0}"),
      "ragged-dot C9: rhs_group_dims is {}, expected one dimension when the ragged dimension 0 is free");
  EXPECT_EQ(with("s32[3]", ", lhs_ragged_dims={1}, rhs_group_dims={0}"),
            "ragged-dot C9: rhs_group_dims is {0}, expected none when the ragged dimension 1 is contracting");
  EXPECT_THAT(with("s32[3]", ", lhs_ragged_dims={0}, rhs_group_dims={1}"),
              HasSubstr("C9: rhs_group_dims names dimension 1"));
  EXPECT_EQ(with("s32[9,3]", ", lhs_ragged_dims={0}, rhs_group_dims={0}"),
            "ragged-dot C10: group_sizes is s32[9,3], expected one dimension of groups, alone or behind {}");
  EXPECT_THAT(with("s32[]", ", lhs_ragged_dims={0}, rhs_group_dims={0}"),
              StartsWith("ragged-dot C10: group_sizes is s32[]"));
  EXPECT_EQ(with("s32[4]", ", lhs_ragged_dims={0}, rhs_group_dims={0}"),
            "ragged-dot C11: group_sizes s32[4] has 4 groups, dimension 0 of rhs f32[3,5,7] has 3");
  const auto tiling = [&](const std::string& tile) {
    return with("s32[3]",
                ", lhs_ragged_dims={0}, rhs_group_dims={0}, "
                "frontend_attributes={ragged_dot_tiling=\"" +
                    tile + "\"}");
  };
  EXPECT_EQ(tiling("512,1024,1024"), "");
  EXPECT_EQ(tiling("512, 1024, 1024"), "");
  for (const char* wrong : {"", "512", "512,1024", "512,1024,0", "512,1024,1024,2", "512,x,1024",
                            "512;1024;1024", "99999999999999999999,1,1"})
    EXPECT_THAT(tiling(wrong), StartsWith("ragged-dot C12: ragged_dot_tiling is \"" + std::string(wrong)));
  const auto groups = [&](const std::string& number) {
    return with("s32[3]",
                ", lhs_ragged_dims={0}, rhs_group_dims={0}, frontend_attributes={hlosim.row_groups=\"" +
                    number + "\"}");
  };
  for (const char* right : {"1", "16", "2.5"}) EXPECT_EQ(groups(right), "");
  for (const char* wrong : {"", "0", "0.5", "-2", "many", "4 groups", "inf", "nan"})
    EXPECT_EQ(groups(wrong), "ragged-dot C13: hlosim.row_groups is \"" + std::string(wrong) +
                                 "\", expected a number of groups from 1 on");
  const auto one_core = [&](const std::string& word) {
    return with(
        "s32[3]",
        ", lhs_ragged_dims={0}, rhs_group_dims={0}, frontend_attributes={ragged_dot_tiling=\"512,64,64\","
        "hlosim.one_core=\"" +
            word + "\"}");
  };
  for (const char* right : {"true", "false"}) EXPECT_EQ(one_core(right), "");
  for (const char* wrong : {"", "1", "True"})
    EXPECT_EQ(one_core(wrong),
              "ragged-dot C14: hlosim.one_core is \"" + std::string(wrong) + "\", expected true or false");
}

TEST(RaggedDot, WorkSpreadsRowsOverGroups) {
  EXPECT_EQ(sizes(work({"f32[11,5]", "f32[3,5,7]", "s32[3]"}, kRaggedFree)), "2x[4,5]x[5,7] + 1x[3,5]x[5,7]");
  EXPECT_EQ(sizes(work({"f32[2,5]", "f32[3,5,7]", "s32[3]"}, kRaggedFree)), "2x[1,5]x[5,7]");
  EXPECT_EQ(
      sizes(work(
          {"f32[11,6]", "f32[6,7]", "s32[3]"},
          "ragged-dot(x0, x1, x2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}")),
      "3x[11,2]x[2,7]");
}

/// Of rows that have each of 16 groups with the same probability, four groups get a quarter, and groups
/// without rows are not read.
TEST(RaggedDot, RowsOfOtherDevicesHaveNoWork) {
  const std::string of_many = std::string(kRaggedFree) + ", frontend_attributes={hlosim.row_groups=\"16\"}";
  EXPECT_EQ(sizes(work({"f32[64,5]", "f32[4,5,7]", "s32[4]"}, of_many)), "4x[4,5]x[5,7]");
  EXPECT_EQ(sizes(work({"f32[8,5]", "f32[4,5,7]", "s32[4]"}, of_many)), "2x[1,5]x[5,7]");
  EXPECT_EQ(sizes(work({"f32[64,5]", "f32[4,5,7]", "s32[4]"}, kRaggedFree)), "4x[16,5]x[5,7]");
  // Rows of no group are neither read nor written.
  RootWork part = work({"f32[64,5]", "f32[4,5,7]", "s32[4]"}, of_many);
  EXPECT_EQ(to_text_without_layout(part->operand_read[0]), "f32[16,5]");
  EXPECT_EQ(to_text_without_layout(part->operand_read[1]), "f32[4,5,7]");
  EXPECT_EQ(to_text_without_layout(part->result_written), "f32[16,7]");
  RootWork terms = work({"f32[64,5]", "f32[64,7]", "s32[4]"},
                        "ragged-dot(x0, x1, x2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
                        "lhs_ragged_dims={0}, frontend_attributes={hlosim.row_groups=\"16\"}");
  EXPECT_EQ(to_text_without_layout(terms->operand_read[0]), "f32[16,5]");
  EXPECT_EQ(to_text_without_layout(terms->operand_read[1]), "f32[16,7]");
  EXPECT_EQ(to_text_without_layout(terms->result_written), "f32[4,5,7]");
}

/// Of an array with room for more rows than have arrived, as many groups as would fill it.
TEST(RaggedDot, RowGroupsNeedNotBeWhole) {
  const std::string of_some = std::string(kRaggedFree) + ", frontend_attributes={hlosim.row_groups=\"3.2\"}";
  EXPECT_EQ(sizes(work({"f32[64,5]", "f32[2,5,7]", "s32[2]"}, of_some)), "2x[20,5]x[5,7]");
}

// ── scaled-dot ──────────────────────────────────────────────────

TEST(ScaledDot, Constraints) {
  const auto with = [](std::string_view lhs_scale, std::string_view rhs_scale) {
    return contraction_errors(
        {"f8e4m3fn[2,64]", "f8e4m3fn[64,4]", lhs_scale, rhs_scale},
        "f32[2,4] scaled-dot(x0, x1, x2, x3), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  };
  EXPECT_EQ(with("f8e8m0fnu[2,2]", "f8e8m0fnu[2,4]"), "");
  EXPECT_EQ(with("bf16[]", "f8e8m0fnu[2,4]"), "");
  EXPECT_EQ(with("bf16[]", "bf16[]"),
            "scaled-dot C8: both scales are scalars (bf16[] and bf16[]), expected at least one array");
  EXPECT_EQ(with("f8e8m0fnu[2]", "bf16[]"),
            "scaled-dot C9: scale f8e8m0fnu[2] has 1 dimensions, its operand f8e4m3fn[2,64] has 2");
  EXPECT_EQ(
      with("f8e8m0fnu[2,6]", "bf16[]"),
      "scaled-dot C10: dimension 1 of operand f8e4m3fn[2,64] is 64, expected a multiple of the scale's 6 in "
      "f8e8m0fnu[2,6]");
}

TEST(ScaledDot, ContractsOneDimension) {
  EXPECT_EQ(contraction_errors({"f8e4m3fn[2,8,4]", "f8e4m3fn[3,8,4]", "f8e8m0fnu[2,1,1]", "f8e8m0fnu[3,1,1]"},
                               "f32[2,3] scaled-dot(x0, x1, x2, x3), lhs_contracting_dims={1,2}, "
                               "rhs_contracting_dims={1,2}"),
            "scaled-dot C11: contracts 2 dimensions, expected one");
}

TEST(ScaledDot, WorkScalesOperandsThatHaveScales) {
  RootWork scaled =
      work({"f8e4m3fn[2,64]", "f8e4m3fn[64,4]", "f8e8m0fnu[2,2]", "bf16[]"},
           "f32[2,4] scaled-dot(x0, x1, x2, x3), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(sizes(scaled), "1x[2,64]x[64,4]");
  ASSERT_EQ(scaled->vectors.size(), 1u);
  EXPECT_EQ(to_text_without_layout(scaled->vectors[0].shape), "f8e4m3fn[2,64]");
}

// ── convolution ─────────────────────────────────────────────────

TEST(Convolution, Shapes) {
  EXPECT_EQ(
      shape_of({"f32[8,56,56,64]", "f32[3,3,64,128]"},
               "convolution(x0, x1), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
      "f32[8,28,28,128]");
  EXPECT_EQ(shape_of({"bf16[8,64]", "f32[64,128]"}, "convolution(x0, x1), dim_labels=bf_io->bf"),
            "f32[8,128]");
  EXPECT_EQ(shape_of({"f32[8,14,64]", "f32[4,64,32]"},
                     "convolution(x0, x1), window={size=4 pad=2_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f"),
            "f32[8,28,32]");
  EXPECT_EQ(shape_of({"f32[8,14,64]", "f32[3,1,128]"},
                     "convolution(x0, x1), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=64"),
            "f32[8,12,128]");
  EXPECT_EQ(shape_of({"f32[8,14,64]", "f32[3,64,128]"},
                     "convolution(x0, x1), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=4"),
            "f32[2,12,128]");
}

TEST(Convolution, Constraints) {
  const auto with = [](std::string_view lhs, std::string_view rhs, std::string_view attributes) {
    return contraction_errors({lhs, rhs, "s32[2]"},
                              "f32[8,12,32] convolution(x0, x1), " + std::string(attributes));
  };
  constexpr std::string_view kLabels = "window={size=3}, dim_labels=b0f_0io->b0f";
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", kLabels), "");
  EXPECT_EQ(with("token[]", "f32[3,64,32]", kLabels),
            "convolution C1: operand 0 has shape token[], expected an array");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", "window={size=3}, dim_labels=b?f_?io->b?f"),
            "convolution C2: dim_labels=b?f_?io->b?f: expected each dimension of each operand and of the "
            "result to have "
            "one role");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", std::string(kLabels) + ", feature_group_count=0"),
            "convolution C3: feature_group_count=0 and batch_group_count=1, expected positive counts and at "
            "most one "
            "above 1");
  EXPECT_EQ(with("f32[8,14]", "f32[3,64,32]", kLabels),
            "convolution C5: dim_labels=b0f_0io->b0f is for 3 dimensions, the operands are f32[8,14] and "
            "f32[3,64,32]");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", "dim_labels=b0f_0io->b0f"),
            "convolution C6: window has 0 dimensions, expected 1");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", "window={size=3 stride=0}, dim_labels=b0f_0io->b0f"),
            "convolution C6: window stride is 0 in dimension 0, expected a positive number");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", "window={size=4}, dim_labels=b0f_0io->b0f"),
            "convolution C6: window size 4 in spatial dimension 0, the kernel f32[3,64,32] has 3");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", std::string(kLabels) + ", batch_group_count=3"),
            "convolution C7: the 32 output features of the kernel f32[3,64,32] are not a multiple of "
            "batch_group_count=3");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,32]", std::string(kLabels) + ", batch_group_count=16"),
            "convolution C8: the input batch of 8 in f32[8,14,64] is not a multiple of batch_group_count=16");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,63,32]", kLabels),
            "convolution C9: 64 input features of f32[8,14,64] in feature_group_count=1 groups do not match "
            "the 63 input "
            "features of the kernel f32[3,63,32]");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,1,32]", std::string(kLabels) + ", feature_group_count=64"),
            "convolution C10: the 32 output features of the kernel f32[3,1,32] are not a multiple of "
            "feature_group_count=64");
  EXPECT_EQ(with("f32[8,14,64]", "f32[3,64,<=32]", kLabels),
            "convolution C11: the output features of the kernel f32[3,64,<=32] are of dynamic size");
}

TEST(Convolution, SparsityConstraints) {
  const auto with = [](std::string_view config) {
    return contraction_errors(
        {"f32[1,8]", "f32[2,1]", "s32[2,1]"},
        "f32[1,1] convolution(x0, x1, x2), dim_labels=bf_io->bf, sparsity_config=" + std::string(config));
  };
  EXPECT_EQ(with("{rhs={sparsity=1x4 dimension=0 stride=1 idx=2}}"), "");
  EXPECT_EQ(
      with("{lhs={sparsity=1x4 dimension=1 stride=1}}"),
      "convolution C4: sparsity_config lhs: idx 0 is out of bounds, expected one of the operands 2 to 2");
  EXPECT_EQ(with("{rhs={sparsity=1x4 dimension=5 stride=1 idx=2}}"),
            "convolution C4: sparsity_config rhs: f32[2,1] has no dimension 5");
  EXPECT_EQ(with("{rhs={sparsity=0x4 dimension=0 idx=2}}"),
            "convolution C4: sparsity_config rhs: 0x4 has to keep between 1 and all of a block");
  EXPECT_THAT(with("{rhs={sparsity=1x4 dim=0}}"),
              HasSubstr("expected sparsity=, dimension=, stride= or idx= at \"dim=0}}\""));
  EXPECT_THAT(with("{rhs={sparsity=1x8 dimension=0 idx=2}}"), HasSubstr("convolution C9: 8 input features"));
}

TEST(Convolution, Work) {
  EXPECT_EQ(sizes(work({"f32[8,56,56,64]", "f32[3,3,64,128]"},
                       "convolution(x0, x1), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f")),
            "1x[25088,576]x[576,128]");
  // Strided, dilated: half of the kernel sees holes.
  EXPECT_EQ(sizes(work({"f32[8,14,64]", "f32[4,64,32]"},
                       "convolution(x0, x1), window={size=4 pad=2_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f")),
            "1x[224,128]x[128,32]");
  // Only the middle of the kernel ever sees the one pixel.
  EXPECT_EQ(sizes(work({"f32[8,1,1,64]", "f32[3,3,64,128]"},
                       "convolution(x0, x1), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f")),
            "1x[8,64]x[64,128]");
  EXPECT_EQ(
      sizes(work({"f32[8,14,64]", "f32[3,1,128]"},
                 "convolution(x0, x1), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=64")),
      "64x[96,3]x[3,2]");
  EXPECT_EQ(sizes(work({"f32[8,14,64]", "f32[3,64,128]"},
                       "convolution(x0, x1), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=4")),
            "4x[24,192]x[192,32]");
  // Heads of a projection: each place of the output sees the one element of the input.
  EXPECT_EQ(sizes(work({"bf16[4,1024,512,1]", "bf16[32,128,512,1]"},
                       "convolution(x0, x1), window={size=1x32 pad=0_0x31_31 rhs_reversal=0x1}, "
                       "dim_labels=0bf1_1oi0->0b1f")),
            "1x[4096,512]x[512,4096]");
  // A batched product written as a convolution.
  EXPECT_EQ(
      sizes(work({"bf16[8,256,64]", "bf16[8,64,128]"},
                 "convolution(x0, x1), window={size=8 stride=7 lhs_dilate=8}, dim_labels=0bf_0io->0bf")),
      "8x[256,64]x[64,128]");
}

}  // namespace
}  // namespace hlosim
