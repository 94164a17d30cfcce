#include "layout/native_tiling.h"

#include <gtest/gtest.h>

#include "layout/layout_map.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

struct TilingRow {
  std::string_view from, to;
};

void expect_rows(const TilingPolicy& policy, std::initializer_list<TilingRow> rows) {
  ShapePool pool;
  for (const TilingRow& row : rows) {
    const Result<ShapeRef> shape = parse_shape(pool, row.from);
    ASSERT_TRUE(shape) << row.from;
    const ShapeRef tiled = with_native_tiling(pool, *shape, policy);
    EXPECT_EQ(to_text(tiled), row.to) << row.from;
    EXPECT_FALSE(validate_layout(tiled)) << row.from;
    // Tiled once, it stays.
    EXPECT_EQ(with_native_tiling(pool, tiled, TilingPolicy::older()), tiled) << row.from;
  }
}

TEST(NativeTiling, Newer) {
  expect_rows(TilingPolicy::newer(),
              {
                  {"f32[20,300]", "f32[20,300]{1,0:T(8,128)}"},
                  {"f32[20,300]{0,1}", "f32[20,300]{0,1:T(8,128)}"},
                  {"f32[2,20,300]{2,1,0:S(1)}", "f32[2,20,300]{2,1,0:T(8,128)S(1)}"},
                  {"bf16[20,300]{1,0}", "bf16[20,300]{1,0:T(8,128)(2,1)}"},
                  {"s8[20,300]{1,0}", "s8[20,300]{1,0:T(8,128)(4,1)}"},
                  {"pred[20,300]{1,0}", "pred[20,300]{1,0:T(8,128)(4,1)}"},
                  {"pred[20,300]{1,0:E(32)}", "pred[20,300]{1,0:T(8,128)E(32)}"},
                  {"s4[20,300]{1,0}", "s4[20,300]{1,0:T(8,128)(8,1)E(4)}"},
                  {"s4[20,300]{1,0:E(8)}", "s4[20,300]{1,0:T(8,128)(4,1)E(8)}"},
                  {"f4e2m1fn[20,300]{1,0}", "f4e2m1fn[20,300]{1,0:T(8,128)(8,1)E(4)}"},
                  {"f6e2m3fn[20,300]{1,0}", "f6e2m3fn[20,300]{1,0:T(8,128)(4,1)}"},
                  {"s2[20,300]{1,0}", "s2[20,300]{1,0:T(16,128)(16,1)E(2)}"},
                  {"s64[20,300]{1,0}", "s64[20,300]{1,0:T(8,128)}"},
                  // few rows
                  {"f32[1,300]", "f32[1,300]{1,0:T(1,128)}"},
                  {"f32[2,300]", "f32[2,300]{1,0:T(2,128)}"},
                  {"f32[3,300]", "f32[3,300]{1,0:T(4,128)}"},
                  {"f32[5,300]", "f32[5,300]{1,0:T(8,128)}"},
                  {"f32[8,4]{0,1}", "f32[8,4]{0,1:T(4,128)}"},
                  {"bf16[1,6144]", "bf16[1,6144]{1,0:T(2,128)(2,1)}"},
                  {"bf16[1,8,1,8,320]{4,0,3,2,1}", "bf16[1,8,1,8,320]{4,0,3,2,1:T(2,128)(2,1)}"},
                  {"bf16[3,6144]", "bf16[3,6144]{1,0:T(4,128)(2,1)}"},
                  {"s8[1,300]", "s8[1,300]{1,0:T(4,128)(4,1)}"},
                  {"s8[5,300]", "s8[5,300]{1,0:T(8,128)(4,1)}"},
                  {"s4[1,300]", "s4[1,300]{1,0:T(8,128)(8,1)E(4)}"},
                  // one dimension
                  {"f32[]", "f32[]{:T(128)}"},
                  {"bf16[]", "bf16[]{:T(256)}"},
                  {"pred[]", "pred[]{:T(512)}"},
                  {"s32[6]{0}", "s32[6]{0:T(128)}"},
                  {"u32[256]{0}", "u32[256]{0:T(256)}"},
                  {"s32[301]{0}", "s32[301]{0:T(512)}"},
                  {"f32[1000000]{0}", "f32[1000000]{0:T(1024)}"},
                  {"bf16[4]{0}", "bf16[4]{0:T(256)(128)(2,1)}"},
                  {"bf16[300]{0}", "bf16[300]{0:T(512)(128)(2,1)}"},
                  {"bf16[3000]{0}", "bf16[3000]{0:T(1024)(128)(2,1)}"},
                  {"s8[100]{0}", "s8[100]{0:T(512)(128)(4,1)}"},
                  {"f32[?]{0}", "f32[?]{0:T(1024)}"},
                  {"f32[<=9]{0}", "f32[<=9]{0:T(128)}"},
                  {"s64[]", "s64[]{:T(128)}"},
                  // others
                  {"f32[4,4]{1,0:T(2,2)}", "f32[4,4]{1,0:T(2,2)}"},
                  {"f32[4,4]{1,0:S(5)}", "f32[4,4]{1,0:S(5)}"},
                  {"(f32[], (token[], bf16[20,20]{1,0}), b(f32[9]))",
                   "(f32[]{:T(128)}, (token[], bf16[20,20]{1,0:T(8,128)(2,1)}), b(f32[9]{0:T(128)}))"},
                  {"opaque[]", "opaque[]"},
              });
}

TEST(NativeTiling, Older) {
  expect_rows(TilingPolicy::older(), {
                                         {"f32[]", "f32[]{:T(256)}"},
                                         {"f32[1,300]", "f32[1,300]{1,0:T(2,128)}"},
                                         {"f32[4,300]", "f32[4,300]{1,0:T(4,128)}"},
                                         {"bf16[1,300]", "bf16[1,300]{1,0:T(8,128)(2,1)}"},
                                         {"bf16[3000]", "bf16[3000]{0:T(1024)}"},
                                         {"bf16[3]", "bf16[3]{0:T(512)}"},
                                         {"s8[3]", "s8[3]{0:T(1024)}"},
                                     });
}

TEST(NativeTiling, LargeRowsOnlyWhereTheyDivide) {
  TilingPolicy policy;
  policy.large_rows = true;
  expect_rows(policy, {
                          {"bf16[32,300]", "bf16[32,300]{1,0:T(16,128)(2,1)}"},
                          {"bf16[24,300]", "bf16[24,300]{1,0:T(8,128)(2,1)}"},
                          {"s8[64,300]", "s8[64,300]{1,0:T(32,128)(4,1)}"},
                          {"s4[9216,6144]", "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}"},
                          {"f32[64,300]", "f32[64,300]{1,0:T(8,128)}"},
                          {"bf16[0,300]", "bf16[0,300]{1,0:T(2,128)(2,1)}"},
                      });
}

TEST(NativeTiling, OffMeansEightRows) {
  TilingPolicy policy;
  policy.compact_rows = CompactRows::kOff;
  expect_rows(policy, {{"f32[1,300]", "f32[1,300]{1,0:T(8,128)}"},
                       {"bf16[1,300]", "bf16[1,300]{1,0:T(8,128)(2,1)}"}});
}

// A 64-bit array takes what its two 32-bit halves take.
TEST(NativeTiling, WideTypesSizeAsTheirHalves) {
  ShapePool pool;
  for (const std::string dimensions : {"[]", "[6]", "[3000]", "[1,7]", "[20,300]", "[3,5,7]"}) {
    const auto size = [&](const std::string& type) {
      return array_size(
          with_native_tiling(pool, *parse_shape(pool, type + dimensions), TilingPolicy::newer()));
    };
    for (const char* wide : {"s64", "u64", "f64", "c64"})
      EXPECT_EQ(size(wide), 2 * size("f32")) << wide << dimensions;
    EXPECT_EQ(size("c128"), 4 * size("f32")) << dimensions;
  }
}

// Whatever the policy, the first tile accounts for all padding, and the offsets have a flat form.
TEST(NativeTiling, AlwaysFlatAndSizedByTheFirstTile) {
  ShapePool pool;
  for (const TilingPolicy& base : {TilingPolicy::newer(), TilingPolicy::older()})
    for (const CompactRows rows : {CompactRows::kOff, CompactRows::kF32Rule, CompactRows::kPackedRule})
      for (const bool large : {false, true})
        for (int type = 1; type < kElementTypeCount; ++type)
          for (const std::vector<int64_t>& dimensions : std::vector<std::vector<int64_t>>{
                   {}, {1}, {777}, {5000}, {1, 1}, {3, 129}, {64, 128}, {2, 5, 7}}) {
            TilingPolicy policy = base;
            policy.compact_rows = rows;
            policy.large_rows = large;
            const ShapeRef shape = pool.array(static_cast<ElementType>(type), dimensions);
            const ShapeRef tiled = with_native_tiling(pool, shape, policy);
            ASSERT_FALSE(later_tiles_pad(tiled)) << to_text(tiled);
            ASSERT_TRUE(LayoutMap::make(tiled)->flat()) << to_text(tiled);
            ASSERT_TRUE(carries_tiles(tiled));
          }
}

}  // namespace
}  // namespace hlosim
