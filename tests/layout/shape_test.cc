#include "layout/shape.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "layout/shape_of.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

using test::shape_of;

TEST(ElementType, EverySpellingIsFound) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parse_element_type(to_text(type)), type);
    EXPECT_GT(bit_width(type), 0);
    EXPECT_EQ(byte_width(type), (bit_width(type) + 7) / 8);
  }
}

// The lookup is a hash: whatever is near a spelling must not be taken for it.
TEST(ElementType, NothingElseIsFound) {
  std::set<std::string> spellings;
  for (int i = 1; i < kElementTypeCount; ++i)
    spellings.insert(std::string(to_text(static_cast<ElementType>(i))));
  std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789_FS ";
  for (const std::string& spelling : spellings) {
    for (size_t i = 0; i <= spelling.size(); ++i) {
      for (const char c : letters) {
        for (const size_t cut : {size_t{0}, size_t{1}}) {
          if (i + cut > spelling.size()) continue;
          const std::string other = spelling.substr(0, i) + c + spelling.substr(i + cut);
          EXPECT_EQ(parse_element_type(other) != ElementType::kInvalid, spellings.count(other) == 1) << other;
        }
      }
      const std::string shorter = spelling.substr(0, i);
      EXPECT_EQ(parse_element_type(shorter) != ElementType::kInvalid, spellings.count(shorter) == 1)
          << shorter;
    }
  }
  for (const char* no : {"", "f", "invalid", "token", "opaque", "tuple", "PRED", "f128"})
    EXPECT_EQ(parse_element_type(no), ElementType::kInvalid) << no;
}

TEST(ElementType, Classes) {
  EXPECT_TRUE(is_pred(ElementType::kPred));
  EXPECT_FALSE(is_integer(ElementType::kPred));
  EXPECT_TRUE(is_signed_integer(ElementType::kS4));
  EXPECT_TRUE(is_unsigned_integer(ElementType::kU64));
  EXPECT_TRUE(is_float(ElementType::kF8E8M0FNU));
  EXPECT_TRUE(is_complex(ElementType::kC64));
  EXPECT_EQ(byte_width(ElementType::kS4), 1);
  EXPECT_EQ(byte_width(ElementType::kF6E2M3FN), 1);
  EXPECT_EQ(byte_width(ElementType::kC128), 16);
}

TEST(ShapePool, EqualMeansSamePointer) {
  ShapePool pool;
  const char* texts[] = {"f32[2,3]",
                         "f32[3,2]",
                         "s32[2,3]",
                         "f32[2,3]{1,0}",
                         "f32[2,3]{0,1}",
                         "f32[2,<=3]",
                         "f32[<=2,3]",
                         "f32[2,?]",
                         "f32[2,3]{1,0:S(1)}",
                         "f32[2,3]{1,0:T(2)}",
                         "f32[2,3]{1,0:T(2)(2)}",
                         "f32[2,3]{1,0:T(2,2)}",
                         "f32[2,3]{1,0:E(16)}",
                         "f32[2,3]{1,0:L(2)}",
                         "f32[2,3]{1,0:M(2)}",
                         "f32[2,3]{1,0:SC(0:1)}",
                         "f32[2,3]{1,0:SC(1:1)}",
                         "f32[2,3]{1,0:SC(1:1,2)}",
                         "f32[2,3]{1,0:#(u8)}",
                         "f32[2,3]{1,0:*(u8)}",
                         "f32[]",
                         "(f32[])",
                         "((f32[]))",
                         "()",
                         "(f32[], f32[])",
                         "token[]",
                         "opaque[]",
                         "b(f32[])",
                         "(b(f32[]))"};
  std::set<ShapeRef> seen;
  for (const char* text : texts) {
    const ShapeRef shape = shape_of(pool, text);
    EXPECT_TRUE(seen.insert(shape).second) << text;
    EXPECT_EQ(shape_of(pool, text), shape) << text;
    EXPECT_EQ(pool.import(shape), shape) << text;
    ShapePool other;
    EXPECT_EQ(to_text(other.import(shape)), text);
  }
}

TEST(ShapePool, ManyShapesStayApart) {
  ShapePool pool;
  std::vector<ShapeRef> shapes;
  for (int64_t i = 0; i < 5000; ++i)
    shapes.push_back(pool.array(ElementType::kF32, std::vector<int64_t>{i, i + 1}, pool.default_layout(2)));
  ShapePool moved = std::move(pool);
  for (int64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(shapes[static_cast<size_t>(i)]->dim(0), i);
    ASSERT_EQ(moved.array(ElementType::kF32, std::vector<int64_t>{i, i + 1}, moved.default_layout(2)),
              shapes[static_cast<size_t>(i)]);
  }
}

TEST(ShapePool, LogicalShapesIgnoreLayoutsAndDynamicFlags) {
  ShapePool pool;
  const char* same[] = {"f32[2,3]", "f32[2,3]{0,1:T(8,128)S(1)}", "f32[<=2,3]{1,0}"};
  for (const char* text : same)
    EXPECT_TRUE(compatible(shape_of(pool, text), shape_of(pool, same[0]))) << text;
  EXPECT_FALSE(compatible(shape_of(pool, "f32[2,3]"), shape_of(pool, "f32[3,2]")));
  EXPECT_FALSE(compatible(shape_of(pool, "f32[2,3]"), shape_of(pool, "s32[2,3]")));
  EXPECT_TRUE(compatible(shape_of(pool, "(f32[2]{0}, (b(s8[4]{0}), token[]))"),
                         shape_of(pool, "(f32[2], (b(s8[4]), token[]))")));
}

TEST(ShapePool, ElementCounts) {
  ShapePool pool;
  const std::pair<const char*, int64_t> rows[] = {
      {"f32[]", 1},
      {"f32[2,3]", 6},
      {"f32[<=4]", 4},
      {"f32[0,9]", 0},
      {"f32[?,9]", 0},
      {"s8[9223372036854775807,2]", std::numeric_limits<int64_t>::max()},
      {"s8[9223372036854775807,2,0]", 0}};
  for (const auto& [text, count] : rows) EXPECT_EQ(shape_of(pool, text)->element_count(), count) << text;
}

TEST(ShapePool, Variants) {
  ShapePool pool;
  const auto text_of = [&](ShapeRef shape) { return to_text(shape); };
  EXPECT_EQ(text_of(pool.with_default_layouts(
                shape_of(pool, "(f32[2,3], (b(s8[4]), f32[2]{0:S(1)}), token[], f32[])"))),
            "(f32[2,3]{1,0}, (b(s8[4]{0}), f32[2]{0:S(1)}), token[], f32[])");
  EXPECT_EQ(text_of(pool.with_memory_space(shape_of(pool, "(f32[2,3], f32[2]{0:T(128)S(1)}, token[])"), 2)),
            "(f32[2,3]{1,0:S(2)}, f32[2]{0:T(128)S(2)}, token[])");
  EXPECT_EQ(text_of(pool.with_element_type(shape_of(pool, "f32[<=2,3]{0,1}"), ElementType::kBF16)),
            "bf16[<=2,3]{0,1}");
  EXPECT_EQ(text_of(pool.with_dimensions(shape_of(pool, "f32[2,3]{0,1}"), std::vector<int64_t>{7})),
            "f32[7]");
  EXPECT_EQ(to_text_without_layout(shape_of(pool, "(f32[2,<=3]{0,1}, s8[4]{0:T(4)})")),
            "(f32[2,<=3], s8[4])");
  EXPECT_EQ(to_text(*shape_of(pool, "f32[2,3]{0,1:T(2,*,2)S(1)}")->layout), "{0,1:T(2,*,2)S(1)}");
  EXPECT_EQ(to_text(*pool.default_layout(0)), "{}");
  EXPECT_EQ(to_text(pool.with_default_layouts(pool.scalar(ElementType::kF32))), "f32[]");
}

TEST(Shape, TupleAccess) {
  ShapePool pool;
  const ShapeRef tuple = shape_of(pool, "(f32[2], (s8[4], ()), token[])");
  EXPECT_EQ(leaf_count(tuple), 3);
  EXPECT_EQ(leaf_count(shape_of(pool, "()")), 0);
  EXPECT_EQ(leaf_count(shape_of(pool, "b(f32[])")), 1);
  EXPECT_EQ(subshape(tuple, std::vector<int64_t>{1, 0}), shape_of(pool, "s8[4]"));
  EXPECT_EQ(subshape(tuple, std::vector<int64_t>{}), tuple);
  for (const std::vector<int64_t>& none : std::vector<std::vector<int64_t>>{{3}, {-1}, {0, 0}, {1, 1, 0}})
    EXPECT_EQ(subshape(tuple, none), nullptr);
  std::string leaves;
  for_each_leaf(tuple, [&](ShapeRef leaf) { leaves += to_text(leaf) + ";"; });
  EXPECT_EQ(leaves, "f32[2];s8[4];token[];");
}

TEST(Shape, StaticDynamicUnbounded) {
  ShapePool pool;
  EXPECT_TRUE(shape_of(pool, "(f32[2], token[])")->is_static());
  EXPECT_FALSE(shape_of(pool, "(f32[2], (f32[<=2]))")->is_static());
  EXPECT_FALSE(shape_of(pool, "f32[?]")->is_static());
  EXPECT_TRUE(shape_of(pool, "(f32[2], b(f32[?]))")->is_unbounded());
  EXPECT_FALSE(shape_of(pool, "f32[<=2]")->is_unbounded());
  EXPECT_EQ(shape_of(pool, "f32[2]{0:S(3)}")->memory_space(), 3);
  EXPECT_EQ(shape_of(pool, "f32[2]")->memory_space(), kDefaultMemorySpace);
}

}  // namespace
}  // namespace hlosim
