#include "ops/op_case.h"

#include <fmt/format.h>

namespace hlosim {
namespace {

using namespace test;

std::string sort(std::string_view operands, std::string_view body, int dimension = 0) {
  return fmt::format("x = sort({}), dimensions={{{}}}, to_apply={{ {} }}", operands, dimension, body);
}

constexpr std::string_view kLess =
    "p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = pred[] compare(p, q), direction=LT";
constexpr std::string_view kLessWithIndex =
    "p = f32[] parameter(0) q = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) "
    "ROOT r = pred[] compare(p, q), direction=LT";

TEST(Ordering, Infer) {
  EXPECT_EQ(inferred(sort("f32[3,<=4] a", kLess, 1)), "f32[3,<=4]");
  EXPECT_EQ(inferred(sort("bf16[3] a", kLess)), "bf16[3]");
  EXPECT_EQ(inferred(sort("f32[3] a, s32[3] b", kLessWithIndex)), "(f32[3], s32[3])");
  EXPECT_EQ(inferred("x = topk(f32[<=3,9] a), k=4, largest=true"), "(f32[<=3,4], s32[<=3,4])");
}

TEST(Ordering, RefusesWithItsConstraint) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"y = () " + sort("", kLess).substr(4), "sort C1: no operands"},
      {sort("token[] a", kLess), "sort C1: operand 0"},
      {sort("f32[3] a, s32[4] b", kLessWithIndex), "sort C2: operands 0 and 1, f32[3] and s32[4]"},
      {sort("f32[3] a", kLess, 1), "sort C3: dimension to sort along is 1"},
      {sort("f32[3] a", kLess, -1), "sort C3: dimension to sort along is -1"},
      {sort("f32[3] a", "p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q)"),
       "sort C4: comparison inline_computation returns f32[], expected pred[]"},
      {sort("f32[3] a, s32[3] b", kLess), "sort C5: comparison inline_computation has 2 parameters"},
      {sort("s32[3] a", kLess),
       "sort C5: parameter 0 of comparison inline_computation is f32[], expected s32[]"},
      {"x = topk((f32[3]) a), k=1", "topk C1: operand 0"},
      {"x = topk(f32[] a), k=1", "topk C1: operand is a scalar"},
      {"x = topk(f32[3] a), k=4", "topk C2: k is 4, expected 0 to 3"},
      {"x = topk(f32[3] a), k=-1", "topk C2: k is -1"},
      {"x = (f32[2], s64[2]) topk(f32[3] a), k=2",
       "topk: expected instruction to have shape equal to (f32[2], s32[2])"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_TRUE(refusal(text).starts_with(message)) << text << "\n says: " << refusal(text);
}

TEST(Ordering, LongerRunsTakeMoreStages) {
  const auto stages = [](std::string_view text) {
    double count = 0;
    with_work(text, [&](const Work& work, const Module&) { count = work.vectors.at(0).per_element; });
    return count;
  };
  EXPECT_EQ(stages(sort("f32[1] a", kLess)), 0);
  EXPECT_EQ(stages(sort("f32[2] a", kLess)), 1);
  EXPECT_EQ(stages(sort("f32[1000] a", kLess)), 55);  // 10 levels: 1 + 2 + … + 10
  EXPECT_LT(stages("x = topk(f32[3,1000] a), k=4"), stages("x = topk(f32[3,1000] a), k=400"));
}

}  // namespace
}  // namespace hlosim
