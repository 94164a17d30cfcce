#include "exec/cluster_softmax.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

using enum ElementType;
using Place = RowPass::Place;

constexpr int64_t kRows = 6, kRow = 128;

RowPass::Input whole(const RowPass::Value& from, int64_t row) {
  return {from, LoadPlan({0, {kRows * row}, {1}}, 4)};
}
RowPass::Input of_row(const RowPass::Value& from, int64_t row) {
  return {from, LoadPlan({0, {kRows, row}, {1, 0}}, 4)};
}

RowPass::Step fold(FoldOp op, const RowPass::Value& folded, size_t init, const RowPass::Value& to) {
  RowPass::Step step;
  step.wide = true;
  step.fold = fold_kernel(op, kF32);
  step.folded = folded;
  step.init = init;
  step.outputs = {to};
  return step;
}

RowPass::Step wide(ElementOp op, bool exponential, RowPass::Input value, RowPass::Input each,
                   const RowPass::Value& to) {
  ElementProgramBuilder builder;
  const ElementProgramBuilder::Value operands[] = {builder.input(kF32), builder.input(kF32)};
  builder.set_uniform(1);
  ElementProgramBuilder::Value made = builder.apply(element_kernel(op, kF32, kF32), operands, kF32);
  if (exponential) made = builder.apply(element_kernel(ElementOp::kExp, kF32, kF32), {&made, 1}, kF32);
  builder.output(made);
  RowPass::Step step;
  step.wide = true;
  step.program = builder.finish();
  step.inputs = {std::move(value), std::move(each)};
  step.outputs = {to};
  return step;
}

struct Softmax {
  RowPass::Value x{Place::kOperand, 0, 4, true}, largest{Place::kBuffer, 0, 4, false},
      exponentials{Place::kBuffer, 1, 4, true}, sum{Place::kBuffer, 2, 4, false},
      result{Place::kResult, 0, 4, true};
  ElementOp difference = ElementOp::kSubtract;
  FoldOp first = FoldOp::kMaximum;
  int64_t row = kRow;

  RowPass pass() const {
    RowPass made;
    made.rows = kRows;
    made.row = row;
    made.steps.push_back(fold(first, x, 1, largest));
    made.steps.push_back(wide(difference, true, whole(x, row), of_row(largest, row), exponentials));
    made.steps.push_back(fold(FoldOp::kAdd, exponentials, 2, sum));
    made.steps.push_back(wide(ElementOp::kDivide, false, whole(exponentials, row), of_row(sum, row), result));
    return made;
  }
};

TEST(ClusterSoftmax, JoinsItsSteps) {
  RowPass pass = Softmax{}.pass();
  const auto joined = join_softmax(pass);
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(*joined, 0u);
  ASSERT_EQ(pass.steps.size(), 1u);
  const RowPass::Step& step = pass.steps[0];
  EXPECT_TRUE(step.is_softmax);
  EXPECT_EQ(step.init, 1u);
  EXPECT_EQ(step.sum_init, 2u);
  EXPECT_EQ(step.folded.place, Place::kOperand);
  EXPECT_EQ(step.outputs.at(0).place, Place::kResult);
  EXPECT_FALSE(join_softmax(pass));
}

TEST(ClusterSoftmax, IsFoundBehindOtherSteps) {
  RowPass pass = Softmax{}.pass();
  pass.steps.insert(pass.steps.begin(),
                    fold(FoldOp::kMinimum, Softmax{}.x, 1, {Place::kResult, 1, 4, false}));
  EXPECT_EQ(join_softmax(pass), 1u);
  EXPECT_EQ(pass.steps.size(), 2u);
}

TEST(ClusterSoftmax, LeavesWhatIsSomethingElse) {
  const auto stays = [](Softmax softmax) {
    RowPass pass = softmax.pass();
    return !join_softmax(pass) && pass.steps.size() == 4;
  };
  EXPECT_TRUE(stays({.difference = ElementOp::kAdd}));
  EXPECT_TRUE(stays({.first = FoldOp::kMinimum}));
  EXPECT_TRUE(stays({.row = 100}));
  EXPECT_TRUE(stays({.row = 8192}));
  EXPECT_TRUE(stays({.largest = {Place::kResult, 1, 4, false}}));
  EXPECT_TRUE(stays({.exponentials = {Place::kResult, 1, 4, true}}));
  RowPass pass = Softmax{}.pass();
  pass.steps.push_back(fold(FoldOp::kAdd, Softmax{}.exponentials, 1, {Place::kResult, 1, 4, false}));
  EXPECT_FALSE(join_softmax(pass)) << "the exponentials are needed once more";
}

}  // namespace
}  // namespace hlosim
