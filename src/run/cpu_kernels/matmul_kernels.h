// The parts of a matrix product that exist once per instruction set level.
//
// A blocked product cuts lhs into panels of up to `rows` rows, and rhs into panels of `columns` columns,
// both packed so that a tile of the result reads them front to back:
//
//   lhs panel of 3 rows:  a00 a10 a20 | a01 a11 a21 | …      one step: one element (or group) of every row
//   rhs panel of 4:       b00 b01 b02 b03 | b10 b11 b12 b13 | …
//
// The integer products of 8 and 16 bits take several elements of k at a time: their step holds a group
// of 4 bytes per row, a00 a01 a02 a03 a10 a11 ….
#pragma once

#include <array>
#include <cstdint>

#include "base/cpu.h"

namespace hlosim {

/// What is computed with.
enum class MatmulKind : uint8_t {
  kF32,
  kF64,
  kU32,
  kU64,
  kS16,  // groups of 2 signed 16-bit integers, sums in 32 bits
  kU8S8  // groups of 4: unsigned lhs, signed rhs, sums in 32 bits; level v4 with VNNI only
};
inline constexpr int kMatmulKinds = 6;

/// result[i, j] (+)= bias[j] + Σ_step lhs[i] · rhs[j] for all rows of the panel and the first `columns`
/// columns. `bias` may be null. The result has unit column stride.
using MatmulTile = void (*)(int64_t steps, const void* lhs, const void* rhs, const void* bias, void* result,
                            int64_t row_stride, int64_t columns, bool accumulate);

struct MatmulTiles {
  static constexpr int kMaxRows = 12;
  static constexpr int kMaxVectors = 2;
  int rows = 0;            // of the largest tile
  int vector_columns = 0;  // columns that one vector register holds
  int group = 1;           // elements of k in a step
  int step_bytes = 4;      // of one row or column
  /// [vectors - 1][rows - 1]: rhs panels are one or two vectors wide.
  std::array<std::array<MatmulTile, kMaxRows>, kMaxVectors> tiles = {};
};

struct MatmulTileKernels {
  std::array<MatmulTiles, kMatmulKinds> kinds = {};
};
HLOSIM_KERNEL_TABLE(MatmulTileKernels, kMatmulTiles)

/// Lanes (rows of lhs or columns of rhs) × k elements, to be packed.
struct MatmulPanel {
  const void* data = nullptr;
  int64_t lane_stride = 0, k_stride = 0;  // in elements
  int64_t lanes = 0, k = 0;
  int64_t width = 0;              // lanes of the packed panel, at least `lanes`; the others are 0
  const float* values = nullptr;  // of the 256 codes, for floats of one byte
  bool flip = false;              // kU8S8: adds 128 to every element
};
using MatmulPack = void (*)(const MatmulPanel& panel, void* packed);

struct MatmulPackKernels {
  MatmulPack f32_from_f32 = nullptr, f32_from_bf16 = nullptr, f32_from_f16 = nullptr,
             f32_from_codes = nullptr;
  MatmulPack bits32 = nullptr, bits64 = nullptr;
  MatmulPack s16_from_s16 = nullptr, s16_from_s8 = nullptr, s16_from_u8 = nullptr;
  MatmulPack bytes4 = nullptr;
  /// sums[lane] = -128 · Σ of a packed panel of s8.
  void (*minus_128_sums)(const void* packed, int64_t steps, int64_t width, int32_t* sums) = nullptr;
};
HLOSIM_KERNEL_TABLE(MatmulPackKernels, kMatmulPack)

/// Sums become elements of the result: rows × columns from unit column stride to any strides.
struct MatmulBlock {
  const void* sums = nullptr;
  int64_t sums_stride = 0;
  int64_t rows = 0, columns = 0;
  void* result = nullptr;
  int64_t row_stride = 0, column_stride = 0;
};
using MatmulStore = void (*)(const MatmulBlock& block);

struct MatmulStoreKernels {
  MatmulStore f32_to_f32 = nullptr, f32_to_bf16 = nullptr, f32_to_f16 = nullptr;
  MatmulStore bits32 = nullptr, bits64 = nullptr, bits16 = nullptr, bits8 = nullptr, pred = nullptr;
  /// Sign- or zero-extended from 1, 2 and 4 bits.
  MatmulStore s1 = nullptr, s2 = nullptr, s4 = nullptr, u1 = nullptr, u2 = nullptr, u4 = nullptr;
};
HLOSIM_KERNEL_TABLE(MatmulStoreKernels, kMatmulStore)

/// A product whose operands are read where they lie. Strides are in elements, of complex numbers in parts,
/// and so is n; m and k are of numbers.
struct MatmulDirect {
  int64_t m = 0, n = 0, k = 0;
  const void* lhs = nullptr;
  int64_t lhs_row_stride = 0, lhs_k_stride = 0;
  const void* rhs = nullptr;
  int64_t rhs_stride = 0;  // of k when columns are next to each other, of columns when k are
  void* result = nullptr;
  int64_t result_stride = 0;  // of rows
  bool accumulate = false;    // small ones: adds to the result
};
using MatmulDirectFn = void (*)(const MatmulDirect&);

/// rhs rows of n neighbours; sizes that fit the L2 cache. Each element is summed front to back.
struct MatmulSmallKernels {
  int64_t column_bytes = 0;  // of a row of the widest tile
  MatmulDirectFn f32 = nullptr, f64 = nullptr, bits32 = nullptr, bits64 = nullptr;
  /// Four sums of real products per number, each product and each sum rounded, put together at the end.
  MatmulDirectFn c64 = nullptr, c128 = nullptr;
};
HLOSIM_KERNEL_TABLE(MatmulSmallKernels, kMatmulSmall)

/// Products of few rows, where reading rhs is all the time it takes. m <= 16.
struct MatmulSkinnyKernels {
  /// lhs is [k][m] without gaps. Streams rhs rows of n neighbours once; the result stays in cache. Each
  /// element is summed front to back, of complex numbers re · rhs before im · i · rhs.
  MatmulDirectFn stream_f32 = nullptr, stream_bf16 = nullptr, stream_f16 = nullptr;
  MatmulDirectFn stream_f64 = nullptr, stream_bits32 = nullptr, stream_bits64 = nullptr;
  MatmulDirectFn stream_c64 = nullptr, stream_c128 = nullptr;
  /// rhs columns of k neighbours; lhs rows of k neighbours.
  MatmulDirectFn dots_f32 = nullptr, dots_bf16 = nullptr, dots_f16 = nullptr;
};
HLOSIM_KERNEL_TABLE(MatmulSkinnyKernels, kMatmulSkinny)

}  // namespace hlosim
