#include "layout/layout_map.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "layout/layout_oracle.h"
#include "layout/shape_text.h"
#include "random_layout.h"

namespace hlosim {
namespace {

using ::testing::ElementsAre;
using Index = std::vector<int64_t>;

LayoutMap map_of(ShapePool& pool, std::string_view text) {
  const Result<ShapeRef> shape = parse_shape(pool, text);
  EXPECT_TRUE(shape) << text;
  EXPECT_FALSE(validate_layout(*shape)) << text;
  const Result<LayoutMap> map = LayoutMap::make(*shape);
  EXPECT_TRUE(map) << text;
  return *map;
}

struct OffsetRow {
  std::string_view shape;
  Index index;
  int64_t offset;
};

// Published values and values worked by hand from the definition.
TEST(LayoutMap, KnownOffsets) {
  const OffsetRow rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", {2, 3}, 17},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {0, 0}, 0},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {0, 1}, 2},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {1, 0}, 1},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {1, 1}, 3},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {2, 0}, 256},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {7, 127}, 1023},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {0, 128}, 1024},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {8, 0}, 2048},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {9, 130}, 3077},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", {255, 255}, 65535},
      {"f32[4096,3584,1]{1,0,2:T(8,128)}", {8, 0, 0}, 28672},
      {"f32[4096,3584,1]{1,0,2:T(8,128)}", {0, 128, 0}, 1024},
      {"f32[4096,3584,1]{1,0,2:T(8,128)}", {4095, 3583, 0}, 14680063},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {0}, 0},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {1}, 2},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {127}, 254},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {128}, 1},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {129}, 3},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {255}, 255},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {256}, 256},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {1023}, 1023},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {1024}, 1024},
      {"bf16[2048]{0:T(1024)(128)(2,1)}", {1153}, 1027},
      {"f32[8]{0:T(2,2)}", {5}, 9},
      {"f32[3]{0:T(8,128)}", {2}, 2},
      {"f32[8,4]{1,0:T(2,2)}", {3, 1}, 11},
      {"f32[8,4]{1,0}", {3, 1}, 13},
      {"f32[8,4]", {3, 1}, 13},
      {"f32[8,4]{0,1}", {3, 1}, 11},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 0, 0, 0, 3}, 6},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {0, 0, 1, 0, 0}, 3},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {1, 6, 7, 10, 9}, 12430},
      {"bf16[2,3,1004]{2,1,0:T(2,*,128)}", {1, 2, 1003}, 6083},
      {"s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", {5, 7}, 61},
      {"f32[10,200]{1,0:T(8,128)}", {9, 130}, 3202},
      {"f32[]{:T(128)}", {}, 0},
  };
  ShapePool pool;
  for (const OffsetRow& row : rows) {
    const LayoutMap map = map_of(pool, row.shape);
    EXPECT_EQ(map.offset(row.index), row.offset) << row.shape;
    EXPECT_EQ(layout_oracle::offset(map.shape(), row.index), row.offset) << row.shape;
    Index back(row.index.size(), -1);
    EXPECT_TRUE(map.index(row.offset, back)) << row.shape;
    EXPECT_EQ(back, row.index) << row.shape;
  }
}

struct TableRow {
  std::string_view shape;
  std::vector<Index> rows;
};

TEST(LayoutMap, WholeTables) {
  const TableRow tables[] = {
      {"f32[3,5]{1,0:T(2,2)}", {{0, 1, 4, 5, 8}, {2, 3, 6, 7, 10}, {12, 13, 16, 17, 20}}},
      {"f32[4,8]{1,0:T(2,4)(2,1)}",
       {{0, 2, 4, 6, 8, 10, 12, 14},
        {1, 3, 5, 7, 9, 11, 13, 15},
        {16, 18, 20, 22, 24, 26, 28, 30},
        {17, 19, 21, 23, 25, 27, 29, 31}}},
  };
  ShapePool pool;
  for (const TableRow& table : tables) {
    const LayoutMap map = map_of(pool, table.shape);
    for (size_t r = 0; r < table.rows.size(); ++r)
      for (size_t c = 0; c < table.rows[r].size(); ++c)
        EXPECT_EQ(map.offset(Index{static_cast<int64_t>(r), static_cast<int64_t>(c)}), table.rows[r][c])
            << table.shape << " " << r << "," << c;
  }
}

struct ExtentRow {
  std::string_view shape;
  int64_t extent;
};

TEST(LayoutMap, Extents) {
  const ExtentRow rows[] = {
      {"f32[3,5]{1,0:T(2,2)}", 24},
      {"bf16[256,256]{1,0:T(8,128)(2,1)}", 65536},
      {"f32[4096,3584,1]{1,0,2:T(8,128)}", 14680064},
      {"f32[4096,3584,1]{2,1,0:T(8,128)}", 7516192768 / 4},
      {"f32[8]{0:T(2,2)}", 16},
      {"f32[3]{0:T(8,128)}", 1024},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 12432},
      {"bf16[2,3,1004]{2,1,0:T(2,*,128)}", 6144},
      {"f32[]{:T(128)}", 128},
      {"bf16[]{:T(256)}", 256},
      {"pred[]{:T(512)}", 512},
      {"f32[]{:T(8,128)}", 1024},
      {"u32[]{:S(2)}", 1},
      {"bf16[4]{0:T(256)(128)(2,1)}", 256},
      {"f32[200001,128]{1,0:T(8)L(1024)}", 102404096 / 4},
      {"f32[5]{0:L(4)}", 8},
      {"f32[9,128]{1,0:T(8,128)(3,1)}", 2 * 9 * 128},  // 8 rows cut by 3 take 9
      {"f32[0,9]{1,0:T(8,128)}", 0},
      {"f32[9223372036854775807]{0}", 9223372036854775807},
      {"f32[9223372036854775807,0]{1,0:T(8,128)}", 0},
  };
  ShapePool pool;
  for (const ExtentRow& row : rows) {
    const LayoutMap map = map_of(pool, row.shape);
    EXPECT_EQ(map.extent(), row.extent) << row.shape;
    EXPECT_EQ(layout_oracle::extent(map.shape()), row.extent) << row.shape;
  }
}

TEST(LayoutMap, PhysicalDimensions) {
  ShapePool pool;
  const auto dims = [&](std::string_view text) {
    const LayoutMap map = map_of(pool, text);
    return Index(map.physical_dimensions().begin(), map.physical_dimensions().end());
  };
  EXPECT_THAT(dims("bf16[10,200]{1,0:T(8,128)(2,1)}"), ElementsAre(2, 2, 4, 128, 2, 1));
  EXPECT_THAT(dims("bf16[4]{0:T(256)(128)(2,1)}"), ElementsAre(1, 1, 128, 2, 1));
  EXPECT_THAT(dims("f32[2,3]{0,1}"), ElementsAre(3, 2));
  EXPECT_THAT(dims("f32[]"), ElementsAre());
}

TEST(LayoutMap, SizeOneDimensionsOutsideTheTiledSuffixChangeNothing) {
  ShapePool pool;
  const LayoutMap with = map_of(pool, "f32[40,300,1]{1,0,2:T(8,128)}");
  const LayoutMap without = map_of(pool, "f32[40,300]{1,0:T(8,128)}");
  EXPECT_EQ(with.extent(), without.extent());
  for (int64_t r = 0; r < 40; ++r)
    for (int64_t c = 0; c < 300; ++c) EXPECT_EQ(with.offset(Index{r, c, 0}), without.offset(Index{r, c}));
}

TEST(LayoutMap, RefusesWhatHasNoPlaces) {
  ShapePool pool;
  const auto error = [&](std::string_view text) {
    const Result<LayoutMap> map = LayoutMap::make(*parse_shape(pool, text));
    return map ? std::string("none") : map.error().message;
  };
  EXPECT_EQ(error("f32[?,2]{1,0}"),
            "f32[?,2]{1,0} has a dimension of unknown size, so its elements have no places");
  const std::string too_large = " is too large to lay out: more than 2^63-1 elements with its padding";
  for (const std::string text : {"s64[9223372036854775807]{0:T(2)}", "s64[9223372036854775807,2]{1,0}",
                                 "s8[2,4611686018427387904]{1,0:T(*,1)}", "s8[1]{0:T(9223372036854775807,2)}",
                                 "s8[9223372036854775807]{0:L(2)}"})
    EXPECT_EQ(error(text), text + too_large);
}

/// Everything that must hold for one array, checked on every element and every slot.
void expect_consistent(ShapeRef shape) {
  const Result<LayoutMap> made = LayoutMap::make(shape);
  ASSERT_TRUE(made) << to_text(shape);
  const LayoutMap& map = *made;
  ASSERT_EQ(map.extent(), *layout_oracle::extent(shape)) << to_text(shape);
  const auto physical = layout_oracle::physical_dimensions(shape);
  ASSERT_TRUE(std::equal(physical->begin(), physical->end(), map.physical_dimensions().begin(),
                         map.physical_dimensions().end()))
      << to_text(shape);
  std::vector<bool> used(static_cast<size_t>(map.extent()), false);
  test::for_each_index(shape, [&](const Index& index) {
    const int64_t offset = map.offset(index);
    ASSERT_EQ(offset, layout_oracle::offset(shape, index)) << to_text(shape);
    ASSERT_GE(offset, 0);
    ASSERT_LT(offset, map.extent()) << to_text(shape);
    ASSERT_FALSE(used[static_cast<size_t>(offset)]) << to_text(shape) << ": two elements in one slot";
    used[static_cast<size_t>(offset)] = true;
    if (map.separable()) {
      int64_t sum = 0;
      for (size_t d = 0; d < index.size(); ++d) sum += map.offset_part(static_cast<int64_t>(d), index[d]);
      ASSERT_EQ(sum, offset) << to_text(shape);
    }
    if (map.flat()) {
      int64_t sum = 0;
      for (const LayoutMap::Digit& digit : map.digits()) {
        int64_t value = 0;
        if (digit.source < shape->rank()) {
          value = index[static_cast<size_t>(digit.source)];
        } else {
          for (const auto& term :
               map.folded_sources()[static_cast<size_t>(digit.source - shape->rank())].terms)
            value += term.weight * index[static_cast<size_t>(term.dimension)];
        }
        value /= digit.divisor;
        sum += (digit.modulus ? value % digit.modulus : value) * digit.stride;
      }
      ASSERT_EQ(sum, offset) << to_text(shape);
    }
  });
  Index index(static_cast<size_t>(shape->rank()));
  for (int64_t offset = 0; offset < map.extent(); ++offset) {
    const bool element = map.index(offset, index);
    ASSERT_EQ(element, used[static_cast<size_t>(offset)]) << to_text(shape) << " slot " << offset;
    const auto literal = layout_oracle::index(shape, offset);
    ASSERT_EQ(element, literal.has_value()) << to_text(shape) << " slot " << offset;
    if (!element) continue;
    ASSERT_EQ(index, *literal) << to_text(shape) << " slot " << offset;
    ASSERT_EQ(map.offset(index), offset) << to_text(shape);
  }
  EXPECT_FALSE(map.index(-1, index));
  EXPECT_FALSE(map.index(map.extent(), index));
  EXPECT_EQ(map.exhaustive(), std::find(used.begin(), used.end(), false) == used.end()) << to_text(shape);
}

TEST(LayoutMap, EverySmallMatrixUnderManyTilings) {
  const std::string_view tilings[] = {"",
                                      ":T(2,2)",
                                      ":T(3,4)",
                                      ":T(4,4)(2,1)",
                                      ":T(2,4)(2,1)",
                                      ":T(3,4)(2,1)",
                                      ":T(4)",
                                      ":T(4)(2)",
                                      ":T(*,4)",
                                      ":T(4)(2,2)",
                                      ":T(2,2,2)",
                                      ":T(2,2)(3,3,3)",
                                      ":T(4,4)(2,2)(2,1)",
                                      ":T(2,*,3)",
                                      ":T(1,1)L(7)"};
  ShapePool pool;
  for (int64_t rows = 0; rows <= 9; ++rows)
    for (int64_t columns = 0; columns <= 9; ++columns)
      for (const std::string_view tiling : tilings)
        for (const std::string_view order : {"1,0", "0,1"}) {
          const std::string text = "f32[" + std::to_string(rows) + "," + std::to_string(columns) + "]{" +
                                   std::string(order) + std::string(tiling) + "}";
          expect_consistent(*parse_shape(pool, text));
          if (HasFatalFailure()) return;
        }
}

TEST(LayoutMap, NativeTilingsOfMatrices) {
  ShapePool pool;
  for (const int64_t rows : {1, 7, 8, 9, 17})
    for (const int64_t columns : {1, 127, 128, 129, 257})
      for (const std::string_view tiling :
           {"T(8,128)", "T(8,128)(2,1)", "T(8,128)(4,1)", "T(4,128)", "T(2,128)(2,1)", "T(16,128)(2,1)"}) {
        const std::string text = "f32[" + std::to_string(rows) + "," + std::to_string(columns) +
                                 "]{1,0:" + std::string(tiling) + "}";
        expect_consistent(*parse_shape(pool, text));
        if (HasFatalFailure()) return;
      }
}

TEST(LayoutMap, RandomLayouts) {
  constexpr uint32_t kSeed = 20261121;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  ShapePool pool;
  int flat = 0, folded = 0;
  for (int i = 0; i < 3000; ++i) {
    const ShapeRef shape =
        test::random_tiled_array(pool, random, {.max_rank = 4, .max_tiles = 3, .combine_percent = 10});
    expect_consistent(shape);
    if (HasFatalFailure()) return;
    const LayoutMap map = *LayoutMap::make(shape);
    flat += map.flat();
    folded += !map.folded_sources().empty();
  }
  // The sample must exercise both ways of answering.
  EXPECT_GT(flat, 500);
  EXPECT_LT(flat, 2900);
  EXPECT_GT(folded, 30);
}

TEST(LayoutMap, TpuLayoutsAreFlat) {
  ShapePool pool;
  for (const std::string_view text :
       {"f32[10,200]{1,0:T(8,128)}", "bf16[10,200]{1,0:T(8,128)(2,1)}", "s8[10,200]{1,0:T(32,128)(4,1)}",
        "s4[10,200]{1,0:T(64,128)(8,1)E(4)}", "bf16[3000]{0:T(1024)(128)(2,1)}", "f32[]{:T(128)}",
        "f32[3]{0:T(8,128)}", "bf16[2,3,1004]{2,1,0:T(2,*,128)}", "bf16[4]{0:T(256)(128)(2,1)}"})
    EXPECT_TRUE(map_of(pool, text).flat()) << text;
  EXPECT_FALSE(map_of(pool, "f32[10,200]{1,0:T(8,128)(3,1)}").flat());
}

TEST(LayoutMap, LargeSpotChecks) {
  constexpr uint32_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  ShapePool pool;
  for (const std::string_view text :
       {"bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}", "f32[4096,3584,1]{1,0,2:T(8,128)}",
        "s8[327680,327680]{1,0:T(8,128)(4,1)}", "bf16[2,3,100004]{2,1,0:T(2,*,128)}"}) {
    const LayoutMap map = map_of(pool, text);
    for (int i = 0; i < 2000; ++i) {
      Index index, back(static_cast<size_t>(map.rank()));
      for (const int64_t size : map.shape()->dimensions)
        index.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(size)));
      const int64_t offset = map.offset(index);
      ASSERT_EQ(offset, layout_oracle::offset(map.shape(), index)) << text << " seed " << kSeed;
      ASSERT_TRUE(map.index(offset, back));
      ASSERT_EQ(back, index);
    }
  }
}

}  // namespace
}  // namespace hlosim
