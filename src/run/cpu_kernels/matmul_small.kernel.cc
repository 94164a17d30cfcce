// Small products, which read their operands where they lie: packing would cost more than it gains.
#include "cpu_kernels/isa_complex.h"
#include "cpu_kernels/isa_partial.h"
#include "cpu_kernels/isa_vector.h"
#include "cpu_kernels/matmul_arithmetic.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRows = 6, kVectors = 4;
#else
constexpr int kRows = 6, kVectors = 2;  // 12 sums, 2 of rhs and 1 of lhs: 15 of 16 registers
#endif

// Complex numbers: a row of lhs is two rows of real numbers, the parts, whose sums are put together at the
// end. Each product and each sum is rounded.
template <class Real>
struct Complex : Real {
  using Vector = typename Real::Vector;
  static constexpr int kParts = 2;
  static Vector add_product(Vector a, Vector b, Vector acc) { return acc + a * b; }
};

using Tile = void (*)(const MatmulDirect&, int64_t row, int64_t column, int64_t last);

// `last`: lanes of the last vector, which are all if it is kWhole. A number, as g++ leaves the upper halves
// of registers dirty behind calls with a vector, at which all code of level v2 then stalls.
template <class Kind, int kTileRows, int kTileVectors, bool kWhole>
void tile(const MatmulDirect& product, int64_t row, int64_t column, int64_t last) {
  using Vector = typename Kind::Vector;
  using Scalar = typename Kind::Scalar;
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Scalar)), kParts = Kind::kParts;
  const Lanes lanes(last);
  Vector sums[kTileRows][kTileVectors];
  const Scalar* a[kTileRows];
  HLOSIM_UNROLL
  for (int i = 0; i < kTileRows; ++i) {
    a[i] = static_cast<const Scalar*>(product.lhs) + (row + i / kParts) * product.lhs_row_stride + i % kParts;
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j) sums[i][j] = Vector{};
  }
  const Scalar* b = static_cast<const Scalar*>(product.rhs) + column;
  int64_t offset = 0;
  for (int64_t k = 0; k < product.k; ++k) {
    Vector columns[kTileVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j)
      columns[j] = kWhole || j + 1 < kTileVectors ? load<Vector>(b + j * kLanes)
                                                  : load_first<Vector>(b + j * kLanes, lanes);
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      const Vector value = splat(a[i][offset]);
      HLOSIM_UNROLL
      for (int j = 0; j < kTileVectors; ++j) sums[i][j] = Kind::add_product(value, columns[j], sums[i][j]);
    }
    b += product.rhs_stride;
    offset += product.lhs_k_stride;
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kTileRows; i += kParts) {
    Scalar* to = static_cast<Scalar*>(product.result) + (row + i / kParts) * product.result_stride + column;
    HLOSIM_UNROLL
    for (int j = 0; j < kTileVectors; ++j) {
      Vector sum = sums[i][j];
      if constexpr (kParts == 2) sum = minus_plus(sum, swapped(sums[i + 1][j]));
      Scalar* at = to + j * kLanes;
      if (kWhole || j + 1 < kTileVectors)
        store(at, product.accumulate ? load<Vector>(at) + sum : sum);
      else
        store_first(at, product.accumulate ? load_first<Vector>(at, lanes) + sum : sum, lanes);
    }
  }
}

struct Tiles {
  // [vectors - 1][rows - 1]
  Tile whole[kVectors][kRows], cut[kVectors][kRows];
};

template <class Kind, int kTileRows, int kTileVectors>
constexpr void fill(Tiles& tiles) {
  constexpr int kParts = Kind::kParts;
  tiles.whole[kTileVectors - 1][kTileRows / kParts - 1] = tile<Kind, kTileRows, kTileVectors, true>;
  tiles.cut[kTileVectors - 1][kTileRows / kParts - 1] = tile<Kind, kTileRows, kTileVectors, false>;
  if constexpr (kTileRows > kParts)
    fill<Kind, kTileRows - kParts, kTileVectors>(tiles);
  else if constexpr (kTileVectors > 1)
    fill<Kind, kRows, kTileVectors - 1>(tiles);
}

template <class Kind>
constexpr Tiles tiles_of() {
  Tiles tiles = {};
  fill<Kind, kRows, kVectors>(tiles);
  return tiles;
}
template <class Kind>
constexpr Tiles kTiles = tiles_of<Kind>();

template <class Kind>
void small(const MatmulDirect& product) {
  constexpr int64_t kLanes = kVectorBytes / static_cast<int>(sizeof(typename Kind::Scalar));
  constexpr int64_t kColumns = kVectors * kLanes, kMostRows = kRows / Kind::kParts;
  for (int64_t column = 0; column < product.n; column += kColumns) {
    const int64_t columns = product.n - column < kColumns ? product.n - column : kColumns;
    const int64_t vectors = (columns + kLanes - 1) / kLanes, last = columns - (vectors - 1) * kLanes;
    const auto& tiles = columns % kLanes == 0 ? kTiles<Kind>.whole : kTiles<Kind>.cut;
    // Tiles whose rows differ by one at most: one of few rows takes as long as one of many.
    for (int64_t row = 0, left = (product.m + kMostRows - 1) / kMostRows; left > 0; --left) {
      const int64_t rows = (product.m - row + left - 1) / left;
      tiles[vectors - 1][rows - 1](product, row, column, last);
      row += rows;
    }
  }
}

}  // namespace

const MatmulSmallKernels kMatmulSmall = {.column_bytes = kVectors * kVectorBytes,
                                         .f32 = small<F32>,
                                         .f64 = small<F64>,
                                         .bits32 = small<U32>,
                                         .bits64 = small<U64>,
                                         .c64 = small<Complex<F32>>,
                                         .c128 = small<Complex<F64>>};

}  // namespace hlosim::HLOSIM_ISA
