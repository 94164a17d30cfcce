// The tilings a TPU compiler gives to arrays, for modules whose text carries none.
//
// A vector register holds 8 sublanes × 128 lanes of 32 bits, so memory is tiled in 8 × 128 words;
// types of p = 32/bits elements a word put p rows into one word:
//
//   f32[20,300]  -> {1,0:T(8,128)}            s8[20,300] -> {1,0:T(8,128)(4,1)}
//   bf16[20,300] -> {1,0:T(8,128)(2,1)}       s4[20,300] -> {1,0:T(8,128)(8,1)E(4)}
//   f32[300]     -> {0:T(512)}                bf16[3000] -> {0:T(1024)(128)(2,1)}
//   f32[]        -> {:T(128)}
//
// The rules were read off public dumps of TPU programs; where dumps differ between compiler
// versions, TilingPolicy has a choice. They are a stand-in for a layout assignment: the order of
// the dimensions is kept, and no operation's wishes are considered.
//
// 64-BIT TYPES. s64, u64, f64 and c64 do not exist on the TPU's vector unit: the compiler turns each
// such array into two of 32 bits (c128 into four). Here the array stays one, tiled as one of its
// halves would be. Sizes and padding are then exactly those of the halves together, but offsets are
// not: the halves really lie one after the other.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "layout/shape.h"

namespace hlosim {

/// What to do with matrices of few rows (a small second-minor dimension).
enum class CompactRows : uint8_t {
  kOff,         // always 8 rows
  kF32Rule,     // 32-bit types only: 2 rows for sizes 1 and 2, 4 for 3 and 4
  kPackedRule,  // 1, 2, 4 or 8 words of rows, whichever fits first; × p for packed types, at most 8
};

struct TilingPolicy {
  int64_t lanes = 128;
  int64_t sublanes = 8;
  Bytes granule{512};  // smallest 1-D tile
  CompactRows compact_rows = CompactRows::kPackedRule;
  bool large_rows = false;  // 8·p rows for packed types where that divides the second-minor dimension
  bool packed_1d = true;    // (128)(p,1) inside the tile of packed 1-D arrays

  /// As in dumps since v5-class parts.
  static TilingPolicy newer() { return {}; }
  /// As in older dumps: 1 KiB granule, plain 1-D tiles, compact rows for 32-bit types only.
  static TilingPolicy older() {
    TilingPolicy policy;
    policy.granule = Bytes(1024);
    policy.compact_rows = CompactRows::kF32Rule;
    policy.packed_1d = false;
    return policy;
  }
};

/// Some array inside has tiles: the text comes from a compiler that assigned layouts.
bool carries_tiles(ShapeRef shape);

/// `shape` with native tiles on every array that has none. A missing order becomes row-major;
/// sub-byte types get their E(n). Arrays in host memory, S(5), stay untiled.
ShapeRef with_native_tiling(ShapePool& pool, ShapeRef shape, const TilingPolicy& policy);

}  // namespace hlosim
