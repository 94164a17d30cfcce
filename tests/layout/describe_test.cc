#include "layout/describe.h"

#include <gmock/gmock.h>

#include "layout/shape_text.h"

namespace hlosim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<LayoutDescription> describe(ShapePool& pool, std::string_view text, const LayoutQuery& query = {}) {
  const Result<ShapeRef> shape = parse_shape(pool, text);
  EXPECT_TRUE(shape) << text;
  return describe_layout(pool, *shape, query);
}

TEST(Describe, PackedMatrix) {
  ShapePool pool;
  const auto d = describe(pool, "bf16[10,200]{1,0:T(8,128)(2,1)S(1)}", {.index = {{9, 130}}, .offset = 3500});
  ASSERT_TRUE(d);
  EXPECT_EQ(to_text(*d),
            "bf16[10,200]{1,0:T(8,128)(2,1)S(1)}\n"
            "  elements                     2,000 elements, 16 bits each\n"
            "  in memory order              10 x 200 (dimensions 0, 1, most major first)\n"
            "  after tiling                 2 x 2 x 4 x 128 x 2 x 1\n"
            "  slots                        4,096 elements, 2,096 of them padding\n"
            "  memory space                 S(1)\n"
            "  Size                         8,192 B (8.00 KiB)\n"
            "  Unpadded size                4,000 B (3.91 KiB)\n"
            "  Extra memory due to padding  4,192 B (4.09 KiB) (2.0x expansion, 51.2 % waste)\n"
            "  up to the last element       6,544 B (6.39 KiB)\n"
            "  asked index                  index (9,130); offset 3,077 elements, byte 6,154\n"
            "  asked offset                 padding; offset 3,500 elements, byte 7,000\n");
}

TEST(Describe, ScalarAndPackedNibbles) {
  ShapePool pool;
  const auto scalar = describe(pool, "f32[]{:T(128)}", {.index = std::vector<int64_t>{}});
  ASSERT_TRUE(scalar);
  EXPECT_EQ(to_text(*scalar),
            "f32[]{:T(128)}\n"
            "  elements                     1 element, 32 bits each\n"
            "  after tiling                 1 x 128\n"
            "  slots                        128 elements, 127 of them padding\n"
            "  memory space                 S(0), default\n"
            "  Size                         512 B\n"
            "  Unpadded size                4 B\n"
            "  Extra memory due to padding  508 B (128.0x expansion, 99.2 % waste)\n"
            "  up to the last element       4 B\n"
            "  asked index                  index (); offset 0 elements, byte 0\n");
  const auto nibbles = describe(pool, "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", {.index = {{5, 7}}});
  ASSERT_TRUE(nibbles);
  EXPECT_THAT(to_text(*nibbles), HasSubstr("index (5,7); offset 61 elements, byte 30 bit 4\n"));
}

TEST(Describe, NamesATighterOrder) {
  ShapePool pool;
  const auto column = describe(pool, "u32[12582912,1]{1,0:T(8,128)}");
  ASSERT_TRUE(column);
  ASSERT_TRUE(column->tighter);
  EXPECT_EQ(to_text(column->tighter), "u32[12582912,1]{0,1:T(8,128)}");
  EXPECT_THAT(
      to_text(*column),
      HasSubstr(
          "Extra memory due to padding  6,392,119,296 B (5.95 GiB) (128.0x expansion, 99.2 % waste)\n"));
  EXPECT_THAT(
      to_text(*column),
      HasSubstr("less padding as              u32[12582912,1]{0,1:T(8,128)}: 402,653,184 B (384.00 MiB)\n"));
  for (const std::string_view best :
       {"f32[8,128]{1,0:T(8,128)}", "f32[9,200]{1,0:T(8,128)}", "f32[3,5]", "f32[]{:T(128)}"})
    EXPECT_EQ(describe(pool, best)->tighter, nullptr) << best;
}

TEST(Describe, WarningsMetadataAndSplits) {
  ShapePool pool;
  EXPECT_THAT(to_text(*describe(pool, "f32[8,128]{1,0:T(8,128)(3,1)}")),
              HasSubstr("\nwarning: f32[8,128]{1,0:T(8,128)(3,1)} needs 4,608 bytes"));
  EXPECT_THAT(to_text(*describe(pool, "s32[3]{0:T(8)M(1024)}")),
              HasSubstr("  metadata in front            1,024 B (1.00 KiB)\n"));
  const auto split = describe(pool, "f32[100]{0:T(8)SC(0:41)}", {.offset = 50});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->of_offset->split_piece, ElementsAre(1));
  EXPECT_EQ(split->of_offset->split_offset, 9);
  EXPECT_THAT(to_text(*split), HasSubstr("piece (1), index (9) in it: offset 9 elements there\n"));
}

TEST(Describe, Refusals) {
  ShapePool pool;
  const auto error = [&](std::string_view text, const LayoutQuery& query = {}) {
    const auto d = describe(pool, text, query);
    return d ? std::string("none") : d.error().message;
  };
  EXPECT_EQ(error("(f32[2])"), "(f32[2]) is not an array and has no layout");
  EXPECT_EQ(error("b(f32[2])"), "none");
  EXPECT_EQ(error("token[]"), "token[] is not an array and has no layout");
  EXPECT_THAT(error("f32[2,2]{0,0}"), HasSubstr("not a permutation"));
  EXPECT_THAT(error("f32[?]"), HasSubstr("unknown size"));
  EXPECT_THAT(error("s64[9223372036854775807]{0:T(128)}"), HasSubstr("too large"));
  EXPECT_EQ(error("f32[2,3]{1,0}", {.index = {{1}}}),
            "index (1) has 1 numbers, but f32[2,3] has 2 dimensions");
  EXPECT_EQ(error("f32[2,3]{1,0}", {.index = {{1, 3}}}),
            "index (1,3) is out of bounds: dimension 1 of f32[2,3] has 3 elements");
  EXPECT_EQ(error("f32[2,3]{1,0}", {.index = {{-1, 0}}}),
            "index (-1,0) is out of bounds: dimension 0 of f32[2,3] has 2 elements");
  EXPECT_EQ(error("f32[2,3]{1,0}", {.offset = 6}), "offset 6 is outside f32[2,3]{1,0}, which has 6 slots");
  EXPECT_EQ(error("f32[2,3]{1,0}", {.offset = -1}), "offset -1 is outside f32[2,3]{1,0}, which has 6 slots");
}

// s64 at the limit is described as far as numbers go.
TEST(Describe, HugeButRepresentable) {
  ShapePool pool;
  const auto d = describe(pool, "s64[9223372036854775807]{0}", {.index = {{9223372036854775806}}});
  ASSERT_TRUE(d);
  EXPECT_EQ(d->padding.padded, kTooLarge);
  EXPECT_EQ(d->of_index->offset, 9223372036854775806);
  EXPECT_THAT(to_text(*d), HasSubstr("Size                         at least 9,223,372,036,854,775,807 B\n"));
  EXPECT_THAT(to_text(*d), HasSubstr("Extra memory due to padding  unknown, the sizes are too large\n"));
  EXPECT_THAT(to_text(*d), HasSubstr("offset 9,223,372,036,854,775,806 elements, byte beyond 2^63-2\n"));
}

TEST(Describe, ParseIndex) {
  EXPECT_THAT(*parse_index("9,130"), ElementsAre(9, 130));
  EXPECT_THAT(*parse_index("-1"), ElementsAre(-1));
  EXPECT_THAT(*parse_index(""), ElementsAre());
  for (const std::string_view bad : {"9,", ",9", "9 130", "a", "99999999999999999999", "9;3"})
    EXPECT_FALSE(parse_index(bad)) << bad;
}

}  // namespace
}  // namespace hlosim
