#include <gtest/gtest.h>

#include "run_op.h"

namespace hlosim {
namespace {

constexpr std::string_view kCombiners = R"(
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
add_f32 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
replace { a = s32[] parameter(0)  ROOT b = s32[] parameter(1) }
keep { ROOT a = s32[] parameter(0)  b = s32[] parameter(1) }
decimal {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ten = s32[] constant(10)
  t = s32[] multiply(a, ten)
  ROOT c = s32[] add(t, b)
}
by_reduce {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  v = s32[1] reshape(a)
  ROOT r = s32[] reduce(v, b), dimensions={0}, to_apply=add
}
both {
  a = s32[] parameter(0)
  x = f32[] parameter(1)
  b = s32[] parameter(2)
  y = f32[] parameter(3)
  s = s32[] add(a, b)
  t = f32[] add(x, y)
  ROOT r = (s32[], f32[]) tuple(s, t)
}
crossed {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  x = s32[] parameter(2)
  y = s32[] parameter(3)
  ROOT r = (s32[], s32[]) tuple(y, x)
}
)";

std::string run_indexing(std::string_view body) { return test::run_body(body, kCombiners); }

constexpr std::string_view kThreeByThree = "c = s32[3,3] constant({{1,2,3},{4,5,6},{7,8,9}})\n";

TEST(Gather, RowsColumnsAndWindows) {
  const auto gathered = [](std::string_view rest) {
    return run_indexing(std::string(kThreeByThree) + std::string(rest));
  };
  EXPECT_EQ(
      gathered(
          "i = s32[2] constant({2,0})\n"
          "ROOT r = s32[2,3] gather(c, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
          "index_vector_dim=1, slice_sizes={1,3}"),
      "7 8 9 1 2 3");
  EXPECT_EQ(
      gathered(
          "i = s64[2] constant({2,0})\n"
          "ROOT r = s32[3,2] gather(c, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, "
          "index_vector_dim=1, slice_sizes={3,1}"),
      "3 1 6 4 9 7");
  EXPECT_EQ(gathered("i = s32[2,2] constant({{0,0},{2,1}})\n"
                     "ROOT r = s32[2] gather(c, i), offset_dims={}, collapsed_slice_dims={0,1}, "
                     "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}"),
            "1 8");
  // The vector's numbers in the other order, along dimension 0.
  EXPECT_EQ(gathered("i = s32[2,2] constant({{0,1},{0,2}})\n"
                     "ROOT r = s32[2] gather(c, i), offset_dims={}, collapsed_slice_dims={0,1}, "
                     "start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,1}"),
            "1 8");
  EXPECT_EQ(gathered("i = s32[2] constant({0,1})\n"
                     "ROOT r = s32[2,2] gather(c, i), offset_dims={0,1}, collapsed_slice_dims={}, "
                     "start_index_map={0,1}, index_vector_dim=0, slice_sizes={2,2}"),
            "2 3 5 6");
}

TEST(Gather, StartsAreHeldInside) {
  const auto gathered = [](std::string_view indices) {
    return run_indexing(std::string(kThreeByThree) + "i = " + std::string(indices) +
                        "\nROOT r = s32[2,2,3] gather(c, i), offset_dims={1,2}, collapsed_slice_dims={}, "
                        "start_index_map={0}, "
                        "index_vector_dim=1, slice_sizes={2,3}");
  };
  EXPECT_EQ(gathered("s32[2] constant({-5, 2147483647})"), "1 2 3 4 5 6 4 5 6 7 8 9");
  EXPECT_EQ(gathered("u64[2] constant({18446744073709551615, 0})"), "4 5 6 7 8 9 1 2 3 4 5 6");
  EXPECT_EQ(gathered("s64[2] constant({-9223372036854775808, 9223372036854775807})"),
            "1 2 3 4 5 6 4 5 6 7 8 9");
  EXPECT_EQ(gathered("u8[2] constant({255, 1})"), "4 5 6 7 8 9 4 5 6 7 8 9");
  EXPECT_EQ(gathered("s8[2] constant({-1, 1})"), "1 2 3 4 5 6 4 5 6 7 8 9");
}

TEST(Gather, BatchingDimensionsPairUp) {
  EXPECT_EQ(
      run_indexing(
          "c = s32[2,3] constant({{1,2,3},{4,5,6}})\ni = s32[2,2] constant({{0,2},{1,1}})\n"
          "ROOT r = s32[2,2] gather(c, i), offset_dims={}, collapsed_slice_dims={1}, "
          "operand_batching_dims={0}, "
          "start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1}"),
      "1 3 5 5");
}

TEST(Gather, OfNothing) {
  EXPECT_EQ(
      run_indexing(
          std::string(kThreeByThree) +
          "i = s32[0] constant({})\n"
          "ROOT r = s32[0,3] gather(c, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
          "index_vector_dim=1, slice_sizes={1,3}"),
      "");
}

std::string scattered(std::string_view operands, std::string_view attributes) {
  return run_indexing(std::string(kThreeByThree) + std::string(operands) +
                      "ROOT r = s32[3,3] scatter(c, i, u), " + std::string(attributes));
}

TEST(Scatter, RowsInOrderOfTheUpdates) {
  constexpr std::string_view kRows =
      "update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=";
  constexpr std::string_view kOperands =
      "i = s32[2] constant({2,2})\nu = s32[2,3] constant({{1,1,1},{2,2,2}})\n";
  EXPECT_EQ(scattered(kOperands, std::string(kRows) + "add"), "1 2 3 4 5 6 10 11 12");
  EXPECT_EQ(scattered(kOperands, std::string(kRows) + "replace"), "1 2 3 4 5 6 2 2 2");
  EXPECT_EQ(scattered(kOperands, std::string(kRows) + "keep"), "1 2 3 4 5 6 7 8 9");
  EXPECT_EQ(scattered(kOperands, std::string(kRows) + "decimal"), "1 2 3 4 5 6 712 812 912");
  EXPECT_EQ(scattered(kOperands, std::string(kRows) + "by_reduce"), "1 2 3 4 5 6 10 11 12");
}

TEST(Scatter, WindowsThatAreNotInOnePiece) {
  constexpr std::string_view kColumns =
      "update_window_dims={0}, inserted_window_dims={1}, "
      "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=";
  constexpr std::string_view kOperands =
      "i = s32[2] constant({2,0})\nu = s32[3,2] constant({{1,2},{3,4},{5,6}})\n";
  EXPECT_EQ(scattered(kOperands, std::string(kColumns) + "add"), "3 2 4 8 5 9 13 8 14");
  EXPECT_EQ(scattered(kOperands, std::string(kColumns) + "replace"), "2 2 1 4 5 3 6 8 5");
  EXPECT_EQ(scattered(kOperands, std::string(kColumns) + "decimal"), "12 2 31 44 5 63 76 8 95");
}

TEST(Scatter, WindowsNotWhollyInsideAreSkipped) {
  const auto with_starts = [](std::string_view indices) {
    return scattered("i = " + std::string(indices) +
                         "\nu = s32[2,2,2] constant({{{10,20},{30,40}},{{100,200},{300,400}}})\n",
                     "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
                     "index_vector_dim=1, to_apply=add");
  };
  EXPECT_EQ(with_starts("s32[2,2] constant({{0,0},{1,1}})"), "11 22 3 34 145 206 7 308 409");
  EXPECT_EQ(with_starts("s32[2,2] constant({{0,2},{-1,0}})"), "1 2 3 4 5 6 7 8 9");
  EXPECT_EQ(with_starts("u64[2,2] constant({{18446744073709551615,0},{1,0}})"), "1 2 3 104 205 6 307 408 9");
  EXPECT_EQ(with_starts("s64[2,2] constant({{9223372036854775807,-9223372036854775808},{1,0}})"),
            "1 2 3 104 205 6 307 408 9");
}

TEST(Scatter, BatchingDimensionsPairUp) {
  EXPECT_EQ(
      scattered("i = s32[3] constant({0,1,5})\nu = s32[3] constant({10,20,30})\n",
                "update_window_dims={}, inserted_window_dims={1}, input_batching_dims={0}, "
                "scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
                "to_apply=add"),
      "11 2 3 4 25 6 7 8 9");
}

TEST(Scatter, SeveralOperandsTogether) {
  EXPECT_EQ(
      run_indexing(
          "c = s32[3] constant({1,2,3})\nd = f32[3] constant({0.5,0.25,0.125})\ni = s32[2] constant({2,0})\n"
          "u = s32[2] constant({10,20})\nv = f32[2] constant({1,2})\n"
          "ROOT r = (s32[3], f32[3]) scatter(c, d, i, u, v), update_window_dims={}, "
          "inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both"),
      "21 2 13 | 2.5 0.25 1.125");
  EXPECT_EQ(
      run_indexing("c = s32[3] constant({1,2,3})\nd = s32[3] constant({4,5,6})\ni = s32[2] constant({2,0})\n"
                   "u = s32[2] constant({10,20})\nv = s32[2] constant({30,40})\n"
                   "ROOT r = (s32[3], s32[3]) scatter(c, d, i, u, v), update_window_dims={}, "
                   "inserted_window_dims={0}, "
                   "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=crossed"),
      "40 2 30 | 20 5 10");
}

TEST(Scatter, MixedPrecision) {
  EXPECT_EQ(run_indexing("c = f32[2] constant({1,2})\ni = s32[1] constant({1})\nu = bf16[1] constant({0.5})\n"
                         "ROOT r = f32[2] scatter(c, i, u), update_window_dims={}, inserted_window_dims={0}, "
                         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add_f32"),
            "1 2.5");
}

TEST(Scatter, LeavesOperandsThatAreNeededAgain) {
  EXPECT_EQ(
      run_indexing(
          "c = s32[3] constant({1,2,3})\nd = s32[3] reverse(c), dimensions={0}\ni = s32[1] constant({0})\n"
          "u = s32[1] constant({9})\n"
          "e = s32[3] scatter(d, i, u), update_window_dims={}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=replace\n"
          "ROOT r = (s32[3], s32[3]) tuple(d, e)"),
      "3 2 1 | 9 2 1");
  // An array scattered into itself at its own numbers.
  EXPECT_EQ(run_indexing("c = s32[3] constant({2,0,0})\nd = s32[3] reverse(c), dimensions={0}\n"
                         "ROOT e = s32[3] scatter(d, d, d), update_window_dims={}, inserted_window_dims={0}, "
                         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"),
            "0 0 4");
  EXPECT_EQ(run_indexing("c = s32[3] constant({1,2,3})\ni = s32[0] constant({})\nu = s32[0] constant({})\n"
                         "ROOT e = s32[3] scatter(c, i, u), update_window_dims={}, inserted_window_dims={0}, "
                         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"),
            "1 2 3");
}

}  // namespace
}  // namespace hlosim
