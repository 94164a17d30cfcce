#include "layout/window_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "layout/layout_map.h"
#include "layout/shape_of.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

using test::shape_of;

using Sizes = std::vector<int64_t>;

TEST(WindowRuns, OneSublaneOfEachTile) {
  ShapePool pool;
  const ShapeRef array = shape_of(pool, "f32[16,512,7168]{2,0,1:T(8,128)}");
  EXPECT_EQ(window_runs(array, Sizes{1, 512, 7168}), (WindowRuns{512.0 * 56, 512, 512}));
  EXPECT_EQ(window_runs(array, Sizes{8, 512, 7168}), (WindowRuns{512, 1, 8 * 7168 * 4}));
  EXPECT_EQ(window_runs(array, Sizes{16, 512, 7168}).runs, 1);
  EXPECT_EQ(window_runs(array, Sizes{16, 1, 7168}).runs, 1);  // above the tile: one piece
  const ShapeRef narrow = shape_of(pool, "f32[16,7168,512]{2,0,1:T(8,128)}");
  EXPECT_EQ(window_runs(narrow, Sizes{1, 7168, 512}), (WindowRuns{7168.0 * 4, 7168, 512}));
}

TEST(WindowRuns, RowsOfOneWordGoTogether) {
  ShapePool pool;
  const ShapeRef array = shape_of(pool, "bf16[16,256]{1,0:T(8,128)(2,1)}");
  EXPECT_EQ(window_runs(array, Sizes{1, 256}), (WindowRuns{2, 1, 512}));
  EXPECT_EQ(window_runs(array, Sizes{2, 256}), (WindowRuns{2, 1, 512}));
  EXPECT_EQ(window_runs(array, Sizes{4, 256}), (WindowRuns{2, 1, 1024}));
}

TEST(WindowRuns, PaddingOfWholeDimensionsIsPartOfARun) {
  ShapePool pool;
  const ShapeRef array = shape_of(pool, "f32[4,5,128]{2,1,0:T(8,128)}");
  EXPECT_EQ(window_runs(array, Sizes{2, 5, 128}), (WindowRuns{1, 1, 8192}));
  EXPECT_EQ(window_runs(array, Sizes{0, 5, 128}), (WindowRuns{}));
}

/// Every element's place, one by one: maximal ranges of neighbouring offsets.
WindowRuns counted(ShapeRef array, const Sizes& sizes) {
  const auto map = LayoutMap::make(array);
  std::vector<int64_t> offsets;
  for (int64_t a = 0; a < sizes[0]; ++a)
    for (int64_t b = 0; b < sizes[1]; ++b)
      for (int64_t c = 0; c < sizes[2]; ++c) offsets.push_back(map->offset(Sizes{a, b, c}));
  std::ranges::sort(offsets);
  std::vector<int64_t> starts;
  for (size_t i = 0; i < offsets.size(); ++i)
    if (i == 0 || offsets[i] != offsets[i - 1] + 1) starts.push_back(offsets[i]);
  WindowRuns runs{static_cast<double>(starts.size()), 1, 4.0 * static_cast<double>(offsets.size())};
  runs.run_bytes /= runs.runs;
  // Rows end where the distance changes, and a new one begins with any distance.
  for (size_t i = 2; i < starts.size(); ++i)
    if (starts[i] - starts[i - 1] != starts[1] - starts[0]) ++runs.rows;
  return runs;
}

TEST(WindowRuns, AsCountedElementByElement) {
  ShapePool pool;
  const Sizes dimensions = {4, 16, 24};
  int strided = 0;
  for (const char* layout :
       {"{2,1,0:T(8,8)}", "{2,0,1:T(2,8)}", "{1,2,0:T(4,8)}", "{0,2,1:T(8,4)}", "{2,1,0}"}) {
    const ShapeRef array = shape_of(pool, std::string("f32[4,16,24]") + layout);
    for (const int64_t a : {1, 2, 4})
      for (const int64_t b : {1, 2, 4, 8, 16})
        for (const int64_t c : {1, 2, 4, 8, 24}) {
          const WindowRuns want = counted(array, {a, b, c}), got = window_runs(array, Sizes{a, b, c});
          EXPECT_EQ(got.runs, want.runs) << layout << " " << a << "," << b << "," << c;
          EXPECT_EQ(got.run_bytes, want.run_bytes) << layout << " " << a << "," << b << "," << c;
          EXPECT_LE(got.rows, got.runs);
          strided += want.rows > 1;
        }
  }
  EXPECT_GT(strided, 20);
}

TEST(WindowRuns, TilesThatMove) {
  ShapePool pool;
  const auto tiles = [&](const char* from, const char* to) {
    return moved_tiles(shape_of(pool, from), shape_of(pool, to));
  };
  EXPECT_EQ(tile_bytes(shape_of(pool, "bf16[64,256]{1,0:T(8,128)(2,1)}")), 2048);
  EXPECT_EQ(tiles("f32[256,256]{1,0:T(8,128)}", "f32[256,256]{0,1:T(8,128)}"), 64);
  EXPECT_EQ(tiles("f32[64,256]{1,0:T(8,128)}", "f32[64,256]{1,0:T(1,128)}"), 128);
  EXPECT_EQ(tiles("f32[64,256]{1,0:T(1,128)}", "f32[64,256]{1,0:T(8,128)}"), 128);
  EXPECT_EQ(tiles("f32[64,256]{1,0}", "f32[64,256]{0,1}"), 0);
}

TEST(WindowRuns, RowsMeetInBanks) {
  ShapePool pool;
  const auto conflicts = [&](const char* from, const char* to) {
    return bank_conflicts(shape_of(pool, from), shape_of(pool, to));
  };
  const auto heads = [&](int count) {
    const std::string shape = "bf16[1024," + std::to_string(count) + ",2,128]";
    return conflicts((shape + "{3,0,2,1:T(8,128)(2,1)}").c_str(),
                     (shape + "{3,2,1,0:T(2,128)(2,1)}").c_str());
  };
  EXPECT_EQ(heads(1), 1);
  EXPECT_EQ(heads(3), 1);
  EXPECT_EQ(heads(4), 4);
  EXPECT_EQ(heads(6), 2);
  EXPECT_EQ(heads(16), 8);
  // Whole words, or tiles of several, are stored by the register.
  EXPECT_EQ(conflicts("f32[64,4,2,128]{3,0,2,1:T(8,128)}", "f32[64,4,2,128]{3,2,1,0:T(2,128)}"), 1);
  EXPECT_EQ(conflicts("bf16[64,256]{1,0:T(16,128)(2,1)}", "bf16[64,256]{1,0:T(8,128)(2,1)}"), 1);
  EXPECT_EQ(conflicts("bf16[256]{0:T(1024)(128)(2,1)}", "bf16[256]{0:T(256)(128)(2,1)}"), 1);
}

}  // namespace
}  // namespace hlosim
