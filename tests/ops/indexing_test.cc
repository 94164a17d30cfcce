#include "ops/op_case.h"

#include <fmt/format.h>

namespace hlosim {
namespace {

using namespace test;

std::string gather(std::string_view operands, std::string_view attributes) {
  return fmt::format("x = gather({}), {}", operands, attributes);
}

TEST(Gather, Infer) {
  const std::string_view rows =
      "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}";
  EXPECT_EQ(inferred(gather("f32[9,5] a, s32[7,1] i", rows)), "f32[7,5]");
  EXPECT_EQ(inferred(gather("f32[9,5] a, s32[7] i", rows)), "f32[7,5]");  // implicit last dimension of 1
  EXPECT_EQ(inferred(gather("f32[9,<=5] a, s32[<=7] i", rows)), "f32[<=7,<=5]");
  EXPECT_EQ(inferred(gather(
                "f32[9,5] a, s32[2,3,7] i",
                "offset_dims={0,3}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=0, "
                "slice_sizes={4,2}")),
            "f32[4,3,7,2]");
  EXPECT_EQ(
      inferred(gather("f32[6,9,5] a, s32[7,6] i",
                      "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, "
                      "slice_sizes={1,1,5}, operand_batching_dims={0}, start_indices_batching_dims={1}")),
      "f32[7,6,5]");
}

TEST(Gather, RefusesWithItsConstraint) {
  const std::string_view a = "f32[9,5] a, s32[7,1] i";
  const auto with = [](std::string_view offset, std::string_view collapsed, std::string_view map,
                       int vector_dim, std::string_view sizes, std::string_view more = "") {
    return fmt::format(
        "offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, index_vector_dim={}, "
        "slice_sizes={{{}}}{}",
        offset, collapsed, map, vector_dim, sizes, more);
  };
  const std::pair<std::string, std::string_view> cases[] = {
      {gather("(f32[9,5]) a, s32[7,1] i", with("1", "0", "0", 1, "1,5")), "gather C1: operand 0"},
      {gather("f32[9,5] a, token[] i", with("1", "0", "0", 1, "1,5")), "gather C1: operand 1"},
      {gather("f32[9,5] a, f32[7,1] i", with("1", "0", "0", 1, "1,5")),
       "gather C2: operand 1 has shape f32[7,1]"},
      {gather(a, with("1", "0", "0", 3, "1,5")), "gather C2: index_vector_dim is 3, expected 0 to 2"},
      {gather(a, with("1", "0", "0", -1, "1,5")), "gather C2: index_vector_dim is -1"},
      {gather(a, with("1", "0", "0,1", 1, "1,5")), "gather C3: start_index_map has 2 entries, expected 1"},
      {gather(a, with("1", "0", "2", 1, "1,5")),
       "gather C3: start_index_map holds 2, expected values in [0, 2)"},
      {gather("f32[9,5] a, s32[7,2] i", with("1", "0", "0,0", 1, "1,5")),
       "gather C3: start_index_map holds 0 more"},
      {gather(a, with("1", "", "0", 1, "1,5", ", operand_batching_dims={0}")),
       "gather C4: start_indices_batching_dims has 0 entries, expected 1"},
      {gather(a,
              with("1", "", "0", 1, "1,5", ", operand_batching_dims={2}, start_indices_batching_dims={0}")),
       "gather C4: operand_batching_dims holds 2"},
      {gather(a,
              with("1", "", "1", 1, "1,5", ", operand_batching_dims={0}, start_indices_batching_dims={1}")),
       "gather C4: start_indices_batching_dims holds index_vector_dim 1"},
      {gather(a, with("1,0", "", "0", 1, "1,5")), "gather C5: offset_dims holds 0 after 1"},
      {gather(a, with("1,1", "", "0", 1, "1,5")), "gather C5: offset_dims holds 1 after 1"},
      {gather(a, with("2", "0", "0", 1, "1,5")), "gather C5: offset_dims holds 2, expected values in [0, 2)"},
      {gather(a, with("", "1,0", "0", 1, "1,1")), "gather C6: collapsed_slice_dims holds 0 after 1"},
      {gather(a, with("1", "2", "0", 1, "1,5")), "gather C6: collapsed_slice_dims holds 2"},
      {gather("f32[7,5] a, s32[7,1] i",
              with("1", "0", "1", 1, "1,5", ", operand_batching_dims={0}, start_indices_batching_dims={0}")),
       "gather C6: collapsed_slice_dims and operand_batching_dims both hold 0"},
      {gather(a, with("1", "0", "0", 1, "1")), "gather C7: slice_sizes has 1 entries, expected 2"},
      {gather(a, with("1", "0", "0", 1, "1,6")), "gather C7: slice size 6 of dimension 1"},
      {gather(a, with("1", "0", "0", 1, "1,-1")), "gather C7: slice size -1 of dimension 1"},
      {gather(a, with("1", "0", "0", 1, "2,5")), "gather C8: slice size of dimension 0 is 2"},
      {gather(a, with("0,1", "0", "0", 1, "1,5")), "gather C9: 2 offset_dims, 1 collapsed_slice_dims"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_TRUE(refusal(text).starts_with(message)) << text << "\n says: " << refusal(text);
}

std::string scatter(std::string_view operands, std::string_view attributes, std::string_view type = "f32") {
  return fmt::format(
      "x = scatter({0}), {1}, to_apply={{ p = {2}[] parameter(0) q = {2}[] parameter(1) ROOT r = {2}[] "
      "add(p, q) }}",
      operands, attributes, type);
}

const std::string_view kRows =
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

TEST(Scatter, Infer) {
  EXPECT_EQ(inferred(scatter("f32[9,5] a, s32[7,1] i, f32[7,5] u", kRows)), "f32[9,5]");
  EXPECT_EQ(inferred(scatter("f32[9,5] a, s32[7] i, f32[7,3] u", kRows)), "f32[9,5]");
  EXPECT_EQ(inferred(scatter("bf16[9,5] a, s32[7] i, f32[7,3] u", kRows)), "bf16[9,5]");
  EXPECT_EQ(inferred(fmt::format(
                "x = scatter(f32[9,5] a, s8[9,5] b, s32[7] i, f32[7,3] u, s8[7,3] v), {}, to_apply={{ "
                "p = f32[] parameter(0) q = s8[] parameter(1) r = f32[] parameter(2) s = s8[] "
                "parameter(3) ROOT t = (f32[], s8[]) tuple(r, q) }}",
                kRows)),
            "(f32[9,5], s8[9,5])");
  EXPECT_EQ(
      inferred(scatter("f32[6,9,5] a, s32[7,6] i, f32[7,6,5] u",
                       "update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
                       "index_vector_dim=2, input_batching_dims={0}, scatter_indices_batching_dims={1}")),
      "f32[6,9,5]");
}

TEST(Scatter, RefusesWithItsConstraint) {
  const auto with = [](std::string_view window, std::string_view inserted, std::string_view map,
                       int vector_dim) {
    return fmt::format(
        "update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{{}}}, "
        "index_vector_dim={}",
        window, inserted, map, vector_dim);
  };
  const std::string_view a = "f32[9,5] a, s32[7,1] i, f32[7,5] u";
  const std::pair<std::string, std::string_view> cases[] = {
      {scatter("f32[9,5] a, s32[7] i", kRows), "scatter C1: 2 operands, expected at least 3, an odd number"},
      {scatter("f32[9,5] a", kRows), "scatter C1: 1 operands"},
      {scatter("f32[9,5] a, s32[7] i, token[] u", kRows), "scatter C1: operand 2"},
      {scatter("f32[9,5] a, f32[9,6] b, s32[7] i, f32[7,5] u, f32[7,5] v", kRows),
       "scatter C1: operands 0 and 1, f32[9,5] and f32[9,6]"},
      {scatter("f32[9,5] a, f32[7,1] i, f32[7,5] u", kRows), "scatter C2: operand 1"},
      {scatter(a, with("1", "0", "0", 3)), "scatter C2: index_vector_dim is 3"},
      {scatter(a, with("1", "0", "2", 1)), "scatter C3: scatter_dims_to_operand_dims holds 2"},
      {scatter(a, with("1", "0", "0,1", 1)), "scatter C3: scatter_dims_to_operand_dims has 2 entries"},
      {scatter(a, with("1", "0", "0", 1) + ", input_batching_dims={1}"),
       "scatter C4: scatter_indices_batching_dims has 0 entries"},
      {scatter(a, with("1,1", "0", "0", 1)), "scatter C5: update_window_dims holds 1 after 1"},
      {scatter(a, with("2", "0", "0", 1)), "scatter C5: update_window_dims holds 2"},
      {scatter(a, with("1", "2", "0", 1)), "scatter C6: inserted_window_dims holds 2"},
      {scatter(a, with("1", "", "0", 1)), "scatter C7: 1 update_window_dims, 0 inserted_window_dims"},
      {scatter("f32[9,5] a, s32[7,1] i, f32[7,5,1] u", kRows),
       "scatter C8: updates f32[7,5,1] have 3 dimensions"},
      {scatter("f32[9,5] a, s32[7,1] i, f32[7,6] u", kRows), "scatter C9: dimension 1 of updates f32[7,6]"},
      {scatter("f32[9,5] a, s32[7,1] i, f32[8,5] u", kRows), "scatter C10: dimension 0 of updates f32[8,5]"},
      {scatter(a, kRows, "s32"), "scatter C11: computation inline_computation returns s32[] as value 0"},
      {scatter("s32[9,5] a, s32[7] i, f32[7,5] u", kRows, "s32"),
       "scatter C11: parameter 1 of computation inline_computation is s32[], expected f32[]"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_TRUE(refusal(text).starts_with(message)) << text << "\n says: " << refusal(text);
}

TEST(Scatter, ReducerMustFit) {
  const auto with = [](std::string_view body) {
    return fmt::format("x = scatter(f32[9,5] a, s32[7,1] i, f32[7,5] u), {}, to_apply={{ {} }}", kRows, body);
  };
  EXPECT_TRUE(
      refusal(with("p = f32[] parameter(0) ROOT r = f32[] negate(p)")).find("has 1 parameters, expected 2") !=
      std::string::npos);
  EXPECT_TRUE(
      refusal(with("p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = (f32[], f32[]) tuple(p, q)"))
          .find("returns (f32[], f32[]), expected 1 values") != std::string::npos);
  EXPECT_TRUE(refusal(with("p = f32[2] parameter(0) q = f32[] parameter(1) ROOT r = f32[2] negate(p)"))
                  .find("returns f32[2], expected scalars") != std::string::npos);
  EXPECT_TRUE(refusal(with("p = s32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] negate(q)"))
                  .find("parameter 0 of computation") != std::string::npos);
}

TEST(Indexing, TouchesWhatItMoves) {
  with_work(gather("f32[9,5] a, s32[2,7,1] i",
                   "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, "
                   "slice_sizes={1,5}"),
            [](const Work& work, const Module&) {
              EXPECT_EQ(text_of_part(work.operand_read[0]), "f32[2,7,5]");
              EXPECT_EQ(work.scattered_accesses, 14);
            });
  with_work(scatter("f32[9,5] a, s32[7,1] i, f32[7,5] u", kRows), [](const Work& work, const Module&) {
    EXPECT_EQ(text_of_part(work.operand_read[0]), "f32[7,5]");
    EXPECT_EQ(text_of_part(work.result_written), "f32[7,5]");
    EXPECT_EQ(work.scattered_accesses, 7);
  });
}

}  // namespace
}  // namespace hlosim
