// How dimensions of operands and results hang together, opcode by opcode.
#include "loop_factors/factors.h"

#include <gtest/gtest.h>

#include "loop_factors/window_form.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;

char letter(FactorKind kind) {
  switch (kind) {
    case FactorKind::kAlong:
      return 'a';
    case FactorKind::kSum:
      return 's';
    case FactorKind::kPart:
      return 'p';
    case FactorKind::kWhole:
      return 'w';
    case FactorKind::kFixed:
      return 'f';
  }
  return '?';
}

/// "[a0 s1] [s1 a2] -> [a0 a2]": of each array the factors of each dimension, joined where it has several.
std::string text_of(const Factors& all) {
  std::string text;
  for (size_t array = 0; array < all.arrays.size(); ++array) {
    if (array > 0) text += ' ';
    if (static_cast<int64_t>(array) == all.operand_leaves) text += "-> ";
    text += '[';
    for (size_t i = 0; i < all.arrays[array].size(); ++i) {
      if (i > 0) text += ' ';
      if (all.arrays[array][i].empty()) text += '.';
      for (const int32_t factor : all.arrays[array][i])
        text += fmt::format("{}{}", letter(all.list[static_cast<size_t>(factor)].kind), factor);
    }
    text += ']';
  }
  return text;
}

/// Factors of the root of an entry that holds `body`.
std::string factors_of(const std::string& body) {
  Module module = module_or_fail(
      "HloModule m\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, "
      "b)\n}\n"
      "ENTRY e {\n" +
      body + "}\n");
  return text_of(factors(OpContext(module, module.root(module.entry), op_table(), nullptr)));
}

TEST(Factors, ProductsSumWhatTheResultDoesNotHave) {
  EXPECT_EQ(factors_of("  x = f32[2,8,16] parameter(0)\n  y = f32[2,16,32] parameter(1)\n"
                       "  ROOT d = f32[2,8,32] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                       "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"),
            "[a0 a2 s1] [a0 s1 a3] -> [a0 a2 a3]");
  EXPECT_EQ(factors_of("  x = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n"
                       "  ROOT r = f32[8] reduce(x, z), dimensions={0}, to_apply=sum\n"),
            "[s0 a1] [] -> [a1]");
}

TEST(Factors, ReshapesMergeAndSplitDimensions) {
  EXPECT_EQ(factors_of("  x = f32[4,8,3] parameter(0)\n  ROOT r = f32[32,3] reshape(x)\n"),
            "[a0 a1 a2] -> [a0a1 a2]");
  EXPECT_EQ(factors_of("  x = f32[32,1,3] parameter(0)\n  ROOT r = f32[4,8,3] reshape(x)\n"),
            "[a0a1 . a2] -> [a0 a1 a2]");
  EXPECT_EQ(factors_of("  x = f32[6,4,5] parameter(0)\n  ROOT r = f32[4,6,5] reshape(x)\n"),
            "[a0f1 f4 a5] -> [a0f2 f3 a5]");
}

TEST(Factors, BitcastsCountInTheOrderOfMemory) {
  EXPECT_EQ(factors_of("  x = f32[4,8]{0,1} parameter(0)\n  ROOT r = f32[8,4]{1,0} bitcast(x)\n"),
            "[a1 a0] -> [a0 a1]");
}

TEST(Factors, PartsAreTiedUnlessTheyAreSingleElements) {
  EXPECT_EQ(factors_of("  x = f32[8,16,4] parameter(0)\n  i = s32[] parameter(1)\n"
                       "  ROOT d = f32[1,8,4] dynamic-slice(x, i, i, i), dynamic_slice_sizes={1,8,4}\n"),
            "[a0 p1 a2] [] [] [] -> [. p1 a2]");
  EXPECT_EQ(factors_of("  x = f32[100,16] parameter(0)\n  i = s32[5,1] parameter(1)\n"
                       "  ROOT g = f32[5,16] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                       "start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}\n"),
            "[a0 a1] [a2 f3] -> [a2 a1]");
  EXPECT_EQ(factors_of("  x = f32[16,8] parameter(0)\n  ROOT s = f32[8,8] slice(x), slice={[4:12],[0:8]}\n"),
            "[p0 a1] -> [p0 a1]");
}

TEST(Factors, CollectivesHandOutParts) {
  EXPECT_EQ(factors_of("  x = f32[4,8] parameter(0)\n"
                       "  ROOT g = f32[4,32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1}\n"),
            "[a0 p1] -> [a0 p1]");
}

TEST(Factors, OneValueThatIsHandedOnTwiceIsTiedOnce) {
  EXPECT_EQ(factors_of("  x = f32[4,8] parameter(0)\n"
                       "  ROOT s = (f32[4,8], f32[4,8], u32[]) copy-start(x)\n"),
            "[a0 a1] -> [a0 a1] [a0 a1] []");
}

TEST(Factors, WindowsThatTakeAllOrSlideAreKnown) {
  WindowDimension window;
  window.size = 8;
  EXPECT_EQ(window_form(8, window, 1), WindowForm::kSum);
  EXPECT_EQ(resized_window(WindowForm::kSum, window, 4).size, 4);
  window.padding_low = window.padding_high = 7;
  EXPECT_EQ(window_form(1, window, 8), WindowForm::kSpread);
  EXPECT_EQ(resized_window(WindowForm::kSpread, window, 2).padding_low, 1);
  window = {.size = 3, .stride = 1, .padding_low = 1, .padding_high = 1};
  EXPECT_EQ(window_form(8, window, 8), WindowForm::kSlides);
  window.padding_high = 0;
  EXPECT_EQ(window_form(8, window, 7), WindowForm::kOther);
  window = {.size = 8, .stride = 7, .base_dilation = 8};
  EXPECT_EQ(window_form(8, window, 8), WindowForm::kBatch);
  EXPECT_EQ(resized_window(WindowForm::kBatch, window, 4).stride, 3);
}

// Whatever the module: what is walked through element by element has one size, and a dimension is as long as
// its factors together.
TEST(Factors, AreAsLongAsTheirDimensions) {
  int64_t dimensions = 0;
  test::for_each_module(20, [&](const std::string& file, Module& module) {
    for (const Instruction& instruction : module.instructions) {
      if (!instruction.parent.valid()) continue;
      const OpContext op(module, instruction, op_table(), nullptr);
      const Factors all = factors(op);
      const std::vector<ShapeRef> arrays = leaf_arrays(op);
      ASSERT_EQ(arrays.size(), all.arrays.size());
      for (size_t array = 0; array < arrays.size(); ++array)
        for (size_t i = 0; i < all.arrays[array].size(); ++i) {
          int64_t size = 1;
          bool exact = !all.arrays[array][i].empty();
          for (const int32_t factor : all.arrays[array][i]) {
            const Factor& one = all.list[static_cast<size_t>(factor)];
            size *= one.size;
            exact &= one.kind != FactorKind::kPart;
          }
          if (!exact || arrays[array]->dimensions[i] < 0) continue;
          EXPECT_EQ(size, arrays[array]->dimensions[i]) << file << ' ' << instruction.name;
          ++dimensions;
        }
    }
  });
  EXPECT_GT(dimensions, 1000);
}

}  // namespace
}  // namespace hlosim
