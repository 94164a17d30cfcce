#include "layout/sizes.h"

#include <gmock/gmock.h>

#include <random>

#include "layout/layout_map.h"
#include "layout/layout_oracle.h"
#include "layout/shape_of.h"
#include "layout/shape_text.h"
#include "random_layout.h"

namespace hlosim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ShapeRef valid_shape(ShapePool& pool, std::string_view text) {
  const ShapeRef shape = test::shape_of(pool, text);
  EXPECT_FALSE(validate_layout(shape)) << text;
  return shape;
}

struct SizeRow {
  std::string_view shape;
  int64_t bytes;
};

TEST(Sizes, ArraySize) {
  const SizeRow rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", 96},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", 131072},
      {"f32[4096,3584,1]{1,0,2:T(8,128)}", 58720256},
      {"f32[4096,3584]{1,0:T(8,128)}", 58720256},
      {"f32[4096,3584,1]{2,1,0:T(8,128)}", 7516192768},
      {"s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", 28311552},
      {"f32[]{:T(128)}", 512},
      {"bf16[]{:T(256)}", 512},
      {"pred[]{:T(512)}", 512},
      {"f32[]{:T(8,128)}", 4096},
      {"u32[]{:S(2)}", 4},
      {"s4[64,128]{1,0:E(4)}", 4096},
      {"s4[64,128]{1,0}", 8192},
      {"s4[123,456]{1,0:T(2,128)E(4)}", 31744},
      {"pred[8,8,8]{0,2,1:T(8,128)E(32)}", 32768},
      {"f32[200001,128]{1,0:T(8)L(1024)}", 102404096},
      {"f32[200001,128]{1,0:T(8,128)}", 102404096},
      {"f32[10,3,7]{2,1,0:T(8,128)}", 40960},
      {"f32[10,3,7]{2,0,1:T(8,128)}", 24576},
      {"u8[327680,327680]{1,0:T(8,128)(4,1)}", 107374182400},
      {"f32[0,7]{1,0:T(8,128)}", 0},
      {"f32[7,0]{1,0}", 0},
      {"f32[6]{0:T(128)}", 512},
      {"f32[100]{0:T(256)}", 1024},
      {"f32[301]{0:T(512)}", 2048},
      {"f32[200001]{0:T(1024)}", 802816},
      {"f32[1000000]{0:T(1024)}", 4001792},
      {"u32[12582912,1]{1,0:T(8,128)}", 6442450944},
      {"f32[8,128,4096]{2,1,0:T(8,128)}", 16777216},
      {"f32[8,128,3584]{2,1,0:T(8,128)}", 14680064},
      {"f32[3584,4096]{1,0:T(8,128)}", 58720256},
      {"f32[16,8]{0,1:T(8,128)}", 4096},
      {"f32[8,4]{0,1:T(4,128)}", 2048},
      {"f32[4]{0:T(128)}", 512},
      {"f32[<=6,128]{1,0:T(8,128)}", 4096},
      {"f32[?,128]{1,0:T(8,128)}", 0},
      {"s32[3]{0:T(8)M(1024)}", 32},
      // Later tiles and `*`: the true extent.
      {"f32[8,128]{1,0:T(8,128)(3,1)}", 4608},
      {"bf16[2,3,1004]{2,1,0:T(2,*,128)}", 12288},
      {"bf16[4]{0:T(256)(128)(2,1)}", 512},
      {"f32[5]{0:T(4)(2,2)}", 32},
      // Split dimensions count with their largest piece.
      {"f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}", 12000000},
      {"f32[150,200,100]{0,1,2:T(1)SC(0:30)(1:40,130)}", 4 * 150 * 90 * 70},
      {"s32[100]{0:T(8)SC(0:41)}", 4 * 64},
      // Not arrays.
      {"token[]", 0},
      {"opaque[]", 8},
      {"(f32[8], (f32[8], f32[8]), token[])", 24},
      {"()", 0},
      {"b(f32[6]{0:T(128)})", 512},
  };
  ShapePool pool;
  for (const SizeRow& row : rows)
    EXPECT_EQ(array_size(valid_shape(pool, row.shape)).count(), row.bytes) << row.shape;
}

TEST(Sizes, DenseBytesIgnoreTiles) {
  const SizeRow rows[] = {
      {"f32[3,5]{1,0:T(8,128)}", 60},
      {"s4[3,3]{1,0}", 9},
      {"s4[3,3]{1,0:E(4)}", 5},
      {"pred[8]{0:T(128)E(32)}", 32},
      {"c128[2]", 32},
      {"f8e4m3fn[7]{0}", 7},
      {"f4e2m1fn[5]{0:E(4)}", 3},
      {"s32[150]{0:T(8)SC(0:30)}", 600},
      {"f32[5]{0:L(1024)}", 20},
      {"(f32[1000], f32[])", 16},
      {"f32[]", 4},
      {"bf16[10,200]{1,0:T(8,128)(2,1)}", 4000},
  };
  ShapePool pool;
  for (const SizeRow& row : rows)
    EXPECT_EQ(dense_bytes(valid_shape(pool, row.shape)).count(), row.bytes) << row.shape;
  EXPECT_EQ(dense_bytes(valid_shape(pool, "(f32[1000], f32[])"), 4).count(), 8);
}

TEST(Sizes, ArrayDataSizeEndsWithTheLastElementOfTheFirstTile) {
  const SizeRow rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", 4 * 21},
      {"f32[3,5]{1,0}", 60},
      {"f32[200001]{0:T(1024)}", 800004},
      {"f32[]{:T(128)}", 4},
      {"f32[0,4]{1,0:T(2,2)}", 0},
      {"bf16[10,200]{1,0:T(8,128)(2,1)}", 6544},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", 131072},
      {"s4[2,4]{1,0:T(2,4)E(4)}", 4},
      {"bf16[2,3,1004]{2,1,0:T(2,*,128)}", 2 * 6084},
      {"f32[3,5]{1,0:T(2,2)(3,1)}", 4 * 21},  // the later tile is not looked at
  };
  ShapePool pool;
  for (const SizeRow& row : rows)
    EXPECT_EQ(array_data_size(valid_shape(pool, row.shape)).count(), row.bytes) << row.shape;
}

TEST(Sizes, WarnsWhereXlaWouldCountLess) {
  ShapePool pool;
  for (const std::string_view fine :
       {"f32[9,9]", "f32[9,9]{1,0:T(8,128)}", "bf16[9,9]{1,0:T(8,128)(2,1)}", "bf16[4]{0:T(256)(128)(2,1)}",
        "s8[9,9]{1,0:T(32,128)(4,1)}", "f32[4,8,128]{2,1,0:T(8,128)(1,2,1)}"})
    EXPECT_FALSE(size_warning(valid_shape(pool, fine))) << fine;
  const auto later = size_warning(valid_shape(pool, "f32[8,128]{1,0:T(8,128)(3,1)}"));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->severity, Severity::kWarning);
  EXPECT_EQ(later->message,
            "f32[8,128]{1,0:T(8,128)(3,1)} needs 4,608 bytes: a later tile pads what the first one left, "
            "which XLA's own "
            "array size leaves out");
  const auto merged = size_warning(valid_shape(pool, "bf16[2,3,1004]{2,1,0:T(2,*,128)}"));
  ASSERT_TRUE(merged);
  EXPECT_THAT(merged->message, HasSubstr("merges dimensions ('*')"));
}

// The quick formula and the literal extent agree wherever the layout has no split.
TEST(Sizes, AllocatedElementsAreTheExtent) {
  constexpr uint32_t kSeed = 4;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  ShapePool pool;
  int warned = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool dividing = i % 2 == 0;
    const ShapeRef shape = test::random_tiled_array(pool, random,
                                                    {.max_rank = 4,
                                                     .max_tiles = 3,
                                                     .combine_percent = dividing ? 0 : 10,
                                                     .dividing_second_tile = dividing});
    if (shape->layout->tiles.empty()) continue;
    ASSERT_EQ(allocated_elements(shape), *layout_oracle::extent(shape)) << to_text(shape);
    // Never less than the elements that were put there.
    ASSERT_GE(array_size(shape), dense_bytes(shape)) << to_text(shape);
    warned += later_tiles_pad(shape);
  }
  EXPECT_GT(warned, 100);
  EXPECT_LT(warned, 2500);
}

TEST(Sizes, AbsurdShapesSaturate) {
  ShapePool pool;
  for (const std::string_view text :
       {"s64[9223372036854775807]{0}", "s64[9223372036854775807]{0:T(128)}",
        "s8[9223372036854775807,2]{1,0:T(8,128)}", "s8[9223372036854775807,9223372036854775807]{1,0}",
        "f32[4611686018427387904]{0:T(9223372036854775807)}", "f32[9223372036854775807,2]{1,0:T(*,8)}"}) {
    const ShapeRef shape = valid_shape(pool, text);
    EXPECT_EQ(array_size(shape), kTooLarge) << text;
    EXPECT_GE(array_data_size(shape).count(), 0) << text;
    EXPECT_GE(padding_of(shape).waste, 0) << text;
  }
  EXPECT_EQ(dense_bytes(valid_shape(pool, "s64[9223372036854775807]")), kTooLarge);
  EXPECT_EQ(dense_bytes(valid_shape(pool, "s8[9223372036854775807]")).count(), 9223372036854775807);
  EXPECT_EQ(array_size(valid_shape(pool, "s4[9223372036854775806]{0:E(4)}")).count(), 4611686018427387903);
  EXPECT_EQ(total_array_size(valid_shape(pool, "(s64[9223372036854775807], s64[9223372036854775807])")),
            kTooLarge);
}

TEST(Sizes, PaddingBill) {
  ShapePool pool;
  const Padding bill = padding_of(valid_shape(pool, "u32[12582912,1]{1,0:T(8,128)}"));
  EXPECT_EQ(bill.unpadded.count(), 48 << 20);
  EXPECT_EQ(bill.padded.count(), int64_t{6} << 30);
  EXPECT_EQ(bill.extra.count(), (int64_t{6} << 30) - (48 << 20));
  EXPECT_EQ(bill.expansion, 128);
  EXPECT_EQ(bill.waste, 127.0 / 128);
  const Padding none = padding_of(valid_shape(pool, "f32[0]"));
  EXPECT_EQ(none.expansion, 1);
  EXPECT_EQ(none.waste, 0);
  const Padding piece = padding_of(valid_shape(pool, "f32[8]{0:T(1)SC(0:4)}"));
  EXPECT_EQ(piece.extra.count(), 0);
}

TEST(Sizes, TotalOverTuples) {
  ShapePool pool;
  EXPECT_EQ(
      total_array_size(valid_shape(pool, "(f32[6]{0:T(128)}, (bf16[]{:T(256)}, token[]), b(s8[3]))")).count(),
      512 + 512 + 3);
  // The parameters of a scheduled TPU module: their sum is known.
  EXPECT_EQ(total_array_size(
                valid_shape(pool,
                            "(f32[]{:T(128)}, f32[4096,3584]{1,0:T(8,128)}, f32[3584,4096]{1,0:T(8,128)}, "
                            "f32[8,128,4096]{2,1,0:T(8,128)}, f32[3584,4096]{1,0:T(8,128)})"))
                .count(),
            192938496);
}

TEST(Sizes, ElementAddress) {
  ShapePool pool;
  const auto place = [&](std::string_view text, int64_t offset) {
    const ElementAddress address = element_address(valid_shape(pool, text), offset);
    return std::vector<int64_t>{address.byte, address.bit};
  };
  EXPECT_THAT(place("f32[8]", 5), ElementsAre(20, 0));
  EXPECT_THAT(place("s4[8]{0:E(4)}", 0), ElementsAre(0, 0));
  EXPECT_THAT(place("s4[8]{0:E(4)}", 5), ElementsAre(2, 4));
  EXPECT_THAT(place("s4[8]", 5), ElementsAre(5, 0));
  EXPECT_THAT(place("pred[8]{0:E(1)}", 13), ElementsAre(1, 5));
  EXPECT_THAT(place("pred[8]{0:E(32)}", 3), ElementsAre(12, 0));
  EXPECT_THAT(place("u2[8]{0:E(2)}", 4611686018427387904), ElementsAre(1152921504606846976, 0));
}

TEST(Sizes, SplitPieces) {
  ShapePool pool;
  const ShapeRef shape = valid_shape(pool, "f32[150,200,100]{0,1,2:T(8)S(1)SC(0:30)(1:40,130)}");
  const SplitPlace place = locate_in_split(pool, shape, std::vector<int64_t>{149, 130, 29});
  EXPECT_THAT(place.piece, ElementsAre(0, 2));
  EXPECT_THAT(place.index, ElementsAre(149, 0, 29));
  EXPECT_EQ(to_text(place.shape), "f32[150,70,30]{0,1,2:T(8)S(1)}");
  const SplitPlace other = locate_in_split(pool, shape, std::vector<int64_t>{0, 40, 30});
  EXPECT_THAT(other.piece, ElementsAre(1, 1));
  EXPECT_THAT(other.index, ElementsAre(0, 0, 0));
  EXPECT_EQ(to_text(other.shape), "f32[150,90,70]{0,1,2:T(8)S(1)}");
  const ShapeRef whole = valid_shape(pool, "f32[4]{0}");
  EXPECT_EQ(locate_in_split(pool, whole, std::vector<int64_t>{3}).shape, whole);
}

}  // namespace
}  // namespace hlosim
