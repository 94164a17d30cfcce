// How a window of a tiled array lies in memory: in how many pieces, how long, how far apart.
//
//   row 3 of f32[16,7168]{1,0:T(8,128)}: one of the 8 sublanes of each tile
//
//     tile (0,0)                tile (0,1)                     56 tiles along a row
//     |s0|s1|s2|S3|s4|…|s7|     |s0|s1|s2|S3|s4|…|s7|  …       S3 = 512 bytes, the next 4096 further
//
//   window_runs(array, {{1, 7168}})      // runs 56, run_bytes 512, rows 1
//
// Eight rows that begin with a tile are one run of 229,376 bytes: whole tiles lie one after another.
#pragma once

#include <cstdint>
#include <span>

#include "layout/shape.h"

namespace hlosim {

/// A run is contiguous in memory. A row is a sequence of runs at one distance, which a strided transfer does
/// in one go.
struct WindowRuns {
  double runs = 0, rows = 0;
  double run_bytes = 0;  // of each; padding of tiles that are taken wholly included
  bool operator==(const WindowRuns&) const = default;
};

/// Of a window of `sizes` elements along the dimensions of `array` that begins where a piece of its size
/// does: at a multiple of its size in those dimensions that it takes a part of a tile of. Elements that share
/// a 32-bit word go together. All 0 for an empty window. Requires: an array with a valid layout or none;
/// sizes.size() == rank; 0 <= sizes[i] <= dimension i.
WindowRuns window_runs(ShapeRef array, std::span<const int64_t> sizes);

/// Bytes of one tile by the array's first tiling, as the vector unit holds it: 4096 for f32 in T(8,128), 512
/// for T(1,128), 2048 for bf16 in T(8,128)(2,1). 0 for arrays without tiles.
double tile_bytes(ShapeRef array);

/// In how many pieces the elements of `from` become those of `to`, each the part of a tile that stays
/// together: tiles of the layout that has the smaller ones. 0 where neither has tiles. Requires: arrays.
double moved_tiles(ShapeRef from, ShapeRef to);

/// Where rows of one word are put together from rows of several words (bf16 in T(8,128)(2,1) becomes
/// T(2,128)(2,1)), they are stored one by one, each to one of 8 banks: how many of 8 in turn meet in one
/// bank. Rows that come 3 rows apart meet never (1), 4 rows apart 4 times. 1 where rows don't change so.
/// Requires: arrays of the same dimensions.
int64_t bank_conflicts(ShapeRef from, ShapeRef to, int64_t lanes = 128);

}  // namespace hlosim
