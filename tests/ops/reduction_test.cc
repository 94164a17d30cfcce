#include <gmock/gmock.h>

#include <algorithm>

#include "ops/reducer.h"
#include "support/text_module.h"

namespace hlosim {
namespace {

using test::messages_of;
using test::parameters;
using test::with_reducers;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string entry(std::initializer_list<std::string_view> shapes, std::string_view root) {
  return with_reducers(parameters(shapes) + "  ROOT r = " + std::string(root));
}
std::string errors(std::initializer_list<std::string_view> shapes, std::string_view root) {
  return messages_of(entry(shapes, root));
}
std::string shape_of(std::initializer_list<std::string_view> shapes, std::string_view root) {
  const Module module = test::module_or_fail(entry(shapes, root));
  return to_text_without_layout(module.root(module.entry).shape);
}
/// "simple 2 f32[8]; cross-lane 1 f32[8,1]"
std::string vectors(std::initializer_list<std::string_view> shapes, std::string_view root) {
  Module module = test::module_or_fail(entry(shapes, root));
  constexpr std::string_view kNames[] = {"simple",    "divide",     "transcendental",
                                         "expensive", "cross-lane", "cross-sublane"};
  std::string text;
  for (const VectorWork& vector : test::root_work(module).vectors)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", kNames[static_cast<size_t>(vector.op)],
                        vector.per_element, to_text_without_layout(vector.shape));
  return text;
}

// ── reduce ──────────────────────────────────────────────────────

TEST(Reduce, KeepsTheOtherDimensions) {
  EXPECT_EQ(shape_of({"f32[2,<=3,4]", "f32[]"}, "reduce(x0, x1), dimensions={0,2}, to_apply=add"),
            "f32[<=3]");
  EXPECT_EQ(shape_of({"f32[2,3]", "f32[]"}, "reduce(x0, x1), dimensions={}, to_apply=add"), "f32[2,3]");
  EXPECT_EQ(shape_of({"f32[2,3]", "s32[2,3]", "f32[]", "s32[]"},
                     "reduce(x0, x1, x2, x3), dimensions={1}, to_apply=max_with_index"),
            "(f32[2], s32[2])");
  EXPECT_EQ(errors({"bf16[2,3]", "f32[]"}, "bf16[2] reduce(x0, x1), dimensions={1}, to_apply=add"), "");
}

TEST(Reduce, Constraints) {
  EXPECT_THAT(errors({"f32[2,3]"}, "f32[2] reduce(x0), dimensions={1}, to_apply=add"),
              HasSubstr("expects an even number of operands"));
  EXPECT_EQ(errors({"f32[2,3]", "s32[3,3]", "f32[]", "s32[]"},
                   "(f32[2],s32[2]) reduce(x0, x1, x2, x3), dimensions={1}, to_apply=max_with_index"),
            "reduce C1: input 1 is s32[3,3], expected the dimensions of input 0, f32[2,3]");
  EXPECT_EQ(errors({"f32[2,3]", "f32[1]"}, "f32[2] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "reduce C1: operand 1 has shape f32[1], expected a scalar");
  EXPECT_THAT(errors({"f32[2,3]", "f32[]"}, "f32[2] reduce(x0, x1), dimensions={1}, to_apply=twice"),
              StartsWith("reduce C2: computation twice has 1 parameters, expected 2"));
  EXPECT_THAT(errors({"s32[2,3]", "s32[]"}, "s32[2] reduce(x0, x1), dimensions={1}, to_apply=add"),
              StartsWith("reduce C2"));
  EXPECT_EQ(errors({"f32[2,3]", "f32[]"}, "f32[2] reduce(x0, x1), dimensions={2}, to_apply=add"),
            "reduce C3: dimensions holds 2, f32[2,3] has no such dimension");
  EXPECT_EQ(errors({"f32[2,3]", "f32[]"}, "f32[2] reduce(x0, x1), dimensions={1,1}, to_apply=add"),
            "reduce C3: dimensions holds 1 more than once");
}

TEST(Reduce, WorkDependsOnWhatLiesAlongLanes) {
  EXPECT_EQ(vectors({"f32[64,8,256]", "f32[]"}, "f32[8,256] reduce(x0, x1), dimensions={0}, to_apply=add"),
            "simple 1 f32[64,8,256]");
  EXPECT_EQ(vectors({"f32[64,256]", "f32[]"}, "f32[64] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 f32[64,256]; cross-lane 2 f32[64,1]");
  EXPECT_EQ(vectors({"f32[64,256]{0,1}", "f32[]"}, "f32[64] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 f32[64,256]; cross-sublane 1 f32[64,1]");
  EXPECT_EQ(vectors({"f32[64,256]", "f32[]"}, "f32[] reduce(x0, x1), dimensions={0,1}, to_apply=add"),
            "simple 1 f32[64,256]; cross-lane 1 f32[1,1]; cross-sublane 1 f32[1,1]");
  // One result has nothing to lie beside, whatever its dimensions.
  EXPECT_EQ(vectors({"f32[256]", "f32[]"}, "f32[] reduce(x0, x1), dimensions={0}, to_apply=add"),
            "simple 1 f32[256]; cross-lane 1 f32[1]");
  EXPECT_EQ(vectors({"f32[1,256]", "f32[]"}, "f32[1] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 f32[1,256]; cross-lane 1 f32[1,1]");
}

TEST(Reduce, WhatNoWindowsFillIsMasked) {
  EXPECT_EQ(vectors({"bf16[64,128256]", "bf16[]"}, "bf16[64] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 bf16[64,128256]; cross-lane 2 bf16[64,1]; simple 3 s32[64,128256]");
  // Whole windows, and what one window holds.
  EXPECT_EQ(vectors({"f32[64,131072]", "f32[]"}, "f32[64] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 f32[64,131072]; cross-lane 2 f32[64,1]");
  EXPECT_EQ(vectors({"f32[64,4608]", "f32[]"}, "f32[64] reduce(x0, x1), dimensions={1}, to_apply=add"),
            "simple 1 f32[64,4608]; cross-lane 2 f32[64,1]");
  // Rows above lanes are as many as there are.
  EXPECT_EQ(vectors({"f32[128256,64]", "f32[]"}, "f32[64] reduce(x0, x1), dimensions={0}, to_apply=add"),
            "simple 1 f32[128256,64]; cross-sublane 1 f32[1,64]");
}

// ── reduce-window ───────────────────────────────────────────────

TEST(ReduceWindow, OneValueAPlace) {
  EXPECT_EQ(shape_of({"f32[8,10]", "f32[]"},
                     "reduce-window(x0, x1), window={size=1x3 stride=1x2 pad=0_0x1_0}, to_apply=add"),
            "f32[8,5]");
  EXPECT_EQ(shape_of({"f32[4]", "s32[4]", "f32[]", "s32[]"},
                     "reduce-window(x0, x1, x2, x3), window={size=2}, to_apply=max_with_index"),
            "(f32[3], s32[3])");
  EXPECT_EQ(shape_of({"f32[]", "f32[]"}, "reduce-window(x0, x1), to_apply=add"), "f32[]");
}

TEST(ReduceWindow, Constraints) {
  EXPECT_THAT(
      errors({"f32[4]", "s32[5]", "f32[]", "s32[]"},
             "(f32[3],s32[3]) reduce-window(x0, x1, x2, x3), window={size=2}, to_apply=max_with_index"),
      StartsWith("reduce-window C1: input 1"));
  EXPECT_THAT(errors({"f32[4]", "f32[]"}, "f32[3] reduce-window(x0, x1), window={size=2}, to_apply=at_least"),
              StartsWith("reduce-window C2"));
  EXPECT_EQ(errors({"f32[4]", "f32[]"}, "f32[3] reduce-window(x0, x1), window={size=2x2}, to_apply=add"),
            "reduce-window C3: window has 2 dimensions, expected 1");
  EXPECT_EQ(
      errors({"f32[4]", "f32[]"}, "f32[3] reduce-window(x0, x1), window={size=2 rhs_dilate=0}, to_apply=add"),
      "reduce-window C3: window rhs_dilate is 0 in dimension 0, expected a positive number");
}

TEST(ReduceWindow, WorkGoesOneDimensionAfterTheOther) {
  EXPECT_EQ(
      vectors({"f32[16,16,8,128]", "f32[]"},
              "f32[8,8,8,128] reduce-window(x0, x1), window={size=2x2x1x1 stride=2x2x1x1}, to_apply=add"),
      "simple 2 f32[8,8,8,128]");
  // A running sum over 1024 columns: ten doublings, each moving along the lanes.
  EXPECT_EQ(vectors({"f32[8,1024]", "f32[]"},
                    "f32[8,1024] reduce-window(x0, x1), window={size=1x1024 pad=0_0x1023_0}, to_apply=add"),
            "cross-lane 10 f32[8,1024]; simple 10 f32[8,1024]");
}

// ── select-and-scatter ──────────────────────────────────────────

constexpr std::string_view kPool = "select-and-scatter(x0, x1, x2), select=at_least, scatter=add, window=";

TEST(SelectAndScatter, Constraints) {
  const auto with = [](std::string_view source, std::string_view init, std::string_view rest) {
    return errors({"f32[4,4]", source, init},
                  "f32[4,4] select-and-scatter(x0, x1, x2), " + std::string(rest));
  };
  constexpr std::string_view kWindow = "window={size=2x2 stride=2x2}, select=at_least, scatter=add";
  EXPECT_EQ(with("f32[2,2]", "f32[]", kWindow), "");
  EXPECT_EQ(with("f32[2,2]", "f32[1]", kWindow),
            "select-and-scatter C1: operand 2 has shape f32[1], expected a scalar");
  EXPECT_EQ(with("f32[2,2]", "f32[]", "window={size=2x2 stride=2x2}, select=add, scatter=add"),
            "select-and-scatter C2: select=add has 2 parameters and returns f32[], expected 2 and pred[]");
  EXPECT_THAT(with("f32[2,2]", "f32[]", "window={size=2x2 stride=2x2}, select=at_least, scatter=add_s32"),
              StartsWith("select-and-scatter C3"));
  EXPECT_EQ(with("f32[2,2]", "f32[]", "window={size=2 stride=2}, select=at_least, scatter=add"),
            "select-and-scatter C4: window has 1 dimensions, expected 2");
  EXPECT_EQ(with("f32[2,3]", "f32[]", kWindow),
            "select-and-scatter C5: the source is f32[2,3], expected f32[2,2]: one element per place of the "
            "window");
}

TEST(SelectAndScatter, WorkComparesWithinWindows) {
  EXPECT_EQ(
      vectors({"f32[4,4]", "f32[2,2]", "f32[]"}, "f32[4,4] " + std::string(kPool) + "{size=2x2 stride=2x2}"),
      "simple 3 f32[2,2]; simple 1 f32[2,2]; simple 1 f32[4,4]");
}

// ── map ─────────────────────────────────────────────────────────

TEST(Map, Constraints) {
  EXPECT_EQ(shape_of({"f32[2,3]", "f32[2,3]"}, "map(x0, x1), dimensions={0,1}, to_apply=at_least"),
            "pred[2,3]");
  EXPECT_EQ(errors({}, "f32[2] map(), to_apply=twice"), "map C1: no operands, expected at least one");
  EXPECT_EQ(errors({"f32[2]", "f32[3]"}, "f32[2] map(x0, x1), to_apply=add"),
            "map C1: operand 1 is f32[3], expected the dimensions of f32[2]");
  EXPECT_EQ(errors({"f32[2]"}, "f32[2] map(x0), to_apply=add"),
            "map C2: computation add has 2 parameters and returns f32[], expected 1 and a scalar");
  EXPECT_EQ(errors({"s32[2]"}, "f32[2] map(x0), to_apply=twice"),
            "map C2: parameter 0 of computation twice is f32[], expected s32[]");
  EXPECT_THAT(errors({"f32[2,3]"}, "map(x0), dimensions={1,0}, to_apply=twice"),
              HasSubstr("map C3: dimensions={1,0}, expected all 2 dimensions in order"));
}

// ── scan ────────────────────────────────────────────────────────

std::string scan(std::string_view root,
                 std::initializer_list<std::string_view> shapes = {"s32[4,32]", "s32[4]"}) {
  return R"(HloModule m
body {
  p0 = s32[4] parameter(0)
  p1 = s32[4] parameter(1)
  sum = s32[4] add(p0, p1)
  ROOT t = (s32[4], s32[4]) tuple(sum, sum)
}
ENTRY main {
)" + parameters(shapes) +
         "  ROOT r = " + std::string(root) + "\n}\n";
}

TEST(Scan, StacksOutputsThenCarries) {
  const Module module =
      test::module_or_fail(scan("scan(x0, x1), dimensions={1}, num_carries=1, to_apply=body"));
  EXPECT_EQ(to_text_without_layout(module.root(module.entry).shape), "(s32[4,32], s32[4])");
}

TEST(Scan, Constraints) {
  const auto with = [](std::string_view attributes) {
    return messages_of(scan("(s32[4,32], s32[4]) scan(x0, x1), to_apply=body, " + std::string(attributes)));
  };
  EXPECT_EQ(with("dimensions={1}, num_carries=1"), "");
  EXPECT_THAT(with("dimensions={2}, num_carries=1"), HasSubstr("dimensions={2}, operand 0 has 2 dimensions"));
  EXPECT_EQ(with("dimensions={1}, num_carries=2"),
            "scan C1: num_carries=2 of 2 operands, expected at least one input besides");
  EXPECT_EQ(with("dimensions={1}, num_carries=0"),
            "scan C2: dimensions is 1, expected one of 1 dimensions, counted from 0");
  EXPECT_EQ(with("dimensions={0}, num_carries=1"),
            "scan C4: parameter 0 of computation body is s32[4], expected s32[32]");
  EXPECT_EQ(messages_of(scan("(s32[4,32], s32[4]) scan(x0), to_apply=body, dimensions={1}, num_carries=0",
                             {"s32[4,32]"})),
            "scan C3: computation body has 2 parameters, expected 1");
  std::string few = scan("s32[4] scan(x0, x1), dimensions={1}, num_carries=1, to_apply=body");
  const std::string root = "ROOT t = (s32[4], s32[4]) tuple(sum, sum)";
  few.replace(few.find(root), root.size(), "ROOT t = () tuple()");
  EXPECT_EQ(messages_of(few), "scan C5: computation body returns (), expected outputs and 1 carries");
}

// ── batch-norm ──────────────────────────────────────────────────

TEST(BatchNorm, Shapes) {
  EXPECT_EQ(shape_of({"f32[8,16,4]", "f32[16]", "f32[16]"},
                     "batch-norm-training(x0, x1, x2), epsilon=0.001, feature_index=1"),
            "(f32[8,16,4], f32[16], f32[16])");
  EXPECT_EQ(shape_of({"f32[8,16]", "f32[16]", "f32[16]", "f32[16]", "f32[16]"},
                     "batch-norm-inference(x0, x1, x2, x3, x4), epsilon=0.001, feature_index=1"),
            "f32[8,16]");
  EXPECT_EQ(shape_of({"f32[8,16]", "f32[16]", "f32[16]", "f32[16]", "f32[8,16]"},
                     "batch-norm-grad(x0, x1, x2, x3, x4), epsilon=0.001, feature_index=1"),
            "(f32[8,16], f32[16], f32[16])");
}

TEST(BatchNorm, Constraints) {
  const auto with = [](std::string_view operand, std::string_view scale, std::string_view gradient,
                       int feature) {
    return errors(
        {operand, scale, "f32[16]", "f32[16]", gradient},
        fmt::format("(f32[8,16], f32[16], f32[16]) batch-norm-grad(x0, x1, x2, x3, x4), epsilon=0.001, "
                    "feature_index={}",
                    feature));
  };
  EXPECT_EQ(with("f32[8,16]", "f32[16]", "f32[8,16]", 1), "");
  EXPECT_THAT(with("f32[8,16]", "token[]", "f32[8,16]", 1), HasSubstr("C1: operand 1 has shape token[]"));
  EXPECT_THAT(with("f32[8,16]", "f32[16]", "f32[8,16]", 2), HasSubstr("C2: feature_index is 2"));
  EXPECT_THAT(with("s32[8,16]", "f32[16]", "f32[8,16]", 1), HasSubstr("C3: operand 0 is s32[8,16]"));
  EXPECT_THAT(with("f32[8,16]", "f32[8]", "f32[8,16]", 1),
              HasSubstr("C4: operand 1 is f32[8], expected one value for each of the 16 features"));
  EXPECT_THAT(with("f32[8,16]", "f32[16]", "f32[16,8]", 1), HasSubstr("C5: the gradient is f32[16,8]"));
}

}  // namespace
}  // namespace hlosim
