// Tiles of the result, summed in registers.
#include "cpu_kernels/isa_vector.h"
#include "cpu_kernels/matmul_arithmetic.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRows = 12;  // 24 sums, 2 of rhs and 1 of lhs: 27 of 32 registers
#else
constexpr int kRows = 6;  // 12 sums, 2 of rhs and 1 of lhs: 15 of 16 registers
#endif

// How one step of a row and one step of a vector of columns are added to sums: besides by
// matmul_arithmetic.h.

struct S16 {
  using Vector = Uint32Vector;
  using Scalar = uint32_t;
  static Vector add_product(Vector a, Vector b, Vector acc) {
#if defined(__AVX512F__)
    return acc + (Vector)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return acc + (Vector)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    return acc + (Vector)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
  }
};
#if defined(__AVX512F__)
struct U8S8 {
  using Vector = Uint32Vector;
  using Scalar = uint32_t;
  // Written out, as this level is compiled without VNNI: callers ask the processor first.
  static Vector add_product(Vector a, Vector b, Vector acc) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
  }
};
#endif

// A tile whose columns are not all there, by way of memory. Inlined, so that the sums of whole tiles stay in
// registers.
template <class Kind, int kTileRows, int kVectors>
[[gnu::always_inline]] inline void store_some(const typename Kind::Vector (&sums)[kTileRows][kVectors],
                                              typename Kind::Scalar* c, int64_t row_stride, int64_t columns,
                                              bool accumulate) {
  using Scalar = typename Kind::Scalar;
  constexpr int kLanes = static_cast<int>(sizeof(typename Kind::Vector) / sizeof(Scalar));
  constexpr int kColumns = kLanes * kVectors;
  alignas(64) Scalar buffer[kTileRows * kColumns];
  HLOSIM_UNROLL
  for (int i = 0; i < kTileRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) store(buffer + i * kColumns + j * kLanes, sums[i][j]);
  }
  for (int i = 0; i < kTileRows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      Scalar& at = c[i * row_stride + j];
      at = accumulate ? at + buffer[i * kColumns + j] : buffer[i * kColumns + j];
    }
  }
}

template <class Kind, int kTileRows, int kVectors>
void tile(int64_t steps, const void* lhs, const void* rhs, const void* bias, void* result, int64_t row_stride,
          int64_t columns, bool accumulate) {
  using Vector = typename Kind::Vector;
  using Scalar = typename Kind::Scalar;
  constexpr int kLanes = static_cast<int>(sizeof(Vector) / sizeof(Scalar));
  constexpr int kColumns = kLanes * kVectors;
  constexpr int kPrefetchSteps = 8;
  const auto* a = static_cast<const Scalar*>(lhs);
  const auto* b = static_cast<const Scalar*>(rhs);
  auto* c = static_cast<Scalar*>(result);
  const bool whole = columns == kColumns;

  Vector sums[kTileRows][kVectors];
  HLOSIM_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    const Vector first =
        bias == nullptr ? Vector{} : load<Vector>(static_cast<const Scalar*>(bias) + j * kLanes);
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) sums[i][j] = first;
  }
  if (whole) {
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j) __builtin_prefetch(c + i * row_stride + j * kLanes, 1);
    }
  }
  for (int64_t step = 0; step < steps; ++step) {
    Vector columns_of_step[kVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      columns_of_step[j] = load<Vector>(b + j * kLanes);
      __builtin_prefetch(b + kPrefetchSteps * kColumns + j * kLanes);
    }
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      const Vector row = splat(a[i]);
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j) sums[i][j] = Kind::add_product(row, columns_of_step[j], sums[i][j]);
    }
    a += kTileRows;
    b += kColumns;
  }
  if (whole) {
    HLOSIM_UNROLL
    for (int i = 0; i < kTileRows; ++i) {
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        Scalar* at = c + i * row_stride + j * kLanes;
        store(at, accumulate ? load<Vector>(at) + sums[i][j] : sums[i][j]);
      }
    }
    return;
  }
  store_some<Kind, kTileRows, kVectors>(sums, c, row_stride, columns, accumulate);
}

template <class Kind, int kTileRows>
constexpr void fill(MatmulTiles& tiles) {
  tiles.tiles[0][kTileRows - 1] = tile<Kind, kTileRows, 1>;
  tiles.tiles[1][kTileRows - 1] = tile<Kind, kTileRows, 2>;
  if constexpr (kTileRows > 1) fill<Kind, kTileRows - 1>(tiles);
}

template <class Kind>
constexpr MatmulTiles tiles_of(int group) {
  MatmulTiles tiles;
  tiles.rows = kRows;
  tiles.vector_columns = kVectorBytes / static_cast<int>(sizeof(typename Kind::Scalar));
  tiles.group = group;
  tiles.step_bytes = static_cast<int>(sizeof(typename Kind::Scalar));
  fill<Kind, kRows>(tiles);
  return tiles;
}

}  // namespace

constexpr MatmulTileKernels kTable = {{
    tiles_of<F32>(1),
    tiles_of<F64>(1),
    tiles_of<U32>(1),
    tiles_of<U64>(1),
    tiles_of<S16>(2),
#if defined(__AVX512F__)
    tiles_of<U8S8>(4),
#endif
}};
const MatmulTileKernels kMatmulTiles = kTable;

}  // namespace hlosim::HLOSIM_ISA
