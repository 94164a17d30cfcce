// Products that read their operands where they lie: small ones, where packing costs more than it gains, and
// those with few rows, which take as long as reading rhs takes.
#include "kernels/float_bits.h"
#include "kernels/isa_partial.h"
#include "kernels/isa_vector.h"
#include "kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// ── Small ───────────────────────────────────────────────────────

#if defined(__AVX512F__)
constexpr int kSmallRows = 6, kSmallVectors = 4;
#else
constexpr int kSmallRows = 6, kSmallVectors = 2;  // 12 sums, 2 of rhs and 1 of lhs: 15 of 16 registers
#endif

using SmallTile = void (*)(const MatmulDirect&, int64_t row, int64_t column, Lanes lanes);

// `lanes` are those of the last vector, which are all if it is kWhole.
template <int kRows, int kVectors, bool kWhole>
void small_tile(const MatmulDirect& product, int64_t row, int64_t column, Lanes lanes) {
  FloatVector sums[kRows][kVectors];
  const float* a[kRows];
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    a[i] = product.lhs + (row + i) * product.lhs_row_stride;
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) sums[i][j] = FloatVector{};
  }
  const float* b = static_cast<const float*>(product.rhs) + column;
  int64_t offset = 0;
  for (int64_t k = 0; k < product.k; ++k) {
    FloatVector columns[kVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j)
      columns[j] = kWhole || j + 1 < kVectors ? load<FloatVector>(b + j * kFloatLanes)
                                              : load_first(b + j * kFloatLanes, lanes);
    HLOSIM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const FloatVector value = splat(a[i][offset]);
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j) sums[i][j] = multiply_add(value, columns[j], sums[i][j]);
    }
    b += product.rhs_stride;
    offset += product.lhs_k_stride;
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    float* to = product.result + (row + i) * product.result_stride + column;
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j)
      if (kWhole || j + 1 < kVectors)
        store(to + j * kFloatLanes, sums[i][j]);
      else
        store_first(to + j * kFloatLanes, sums[i][j], lanes);
  }
}

struct SmallTiles {
  SmallTile whole[kSmallVectors][kSmallRows], cut[kSmallVectors][kSmallRows];
};

template <int kRows, int kVectors>
constexpr void fill(SmallTiles& tiles) {
  tiles.whole[kVectors - 1][kRows - 1] = small_tile<kRows, kVectors, true>;
  tiles.cut[kVectors - 1][kRows - 1] = small_tile<kRows, kVectors, false>;
  if constexpr (kRows > 1)
    fill<kRows - 1, kVectors>(tiles);
  else if constexpr (kVectors > 1)
    fill<kSmallRows, kVectors - 1>(tiles);
}

constexpr SmallTiles small_tiles() {
  SmallTiles tiles = {};
  fill<kSmallRows, kSmallVectors>(tiles);
  return tiles;
}
constexpr SmallTiles kSmallTiles = small_tiles();

void small(const MatmulDirect& product) {
  constexpr int64_t kColumns = kSmallVectors * kFloatLanes;
  for (int64_t column = 0; column < product.n; column += kColumns) {
    const int64_t columns = product.n - column < kColumns ? product.n - column : kColumns;
    const int64_t vectors = (columns + kFloatLanes - 1) / kFloatLanes;
    const Lanes lanes(columns - (vectors - 1) * kFloatLanes);
    const auto& tiles = columns % kFloatLanes == 0 ? kSmallTiles.whole : kSmallTiles.cut;
    // Tiles whose rows differ by one at most: one of few rows takes as long as one of many.
    for (int64_t row = 0, left = (product.m + kSmallRows - 1) / kSmallRows; left > 0; --left) {
      const int64_t rows = (product.m - row + left - 1) / left;
      tiles[vectors - 1][rows - 1](product, row, column, lanes);
      row += rows;
    }
  }
}

// ── Sources of rhs ──────────────────────────────────────────────

struct F32 {
  using Element = float;
  static float one(float value) { return value; }
  static FloatVector vector(const float* from) { return load<FloatVector>(from); }
};

struct Bf16 {
  using Element = uint16_t;
  static float one(uint16_t value) { return f32_of_bf16(value); }
  static FloatVector vector(const uint16_t* from) {
#if defined(__AVX512F__)
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
    const __m128i wide = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#endif
    return (FloatVector)((Uint32Vector)wide << 16);
  }
};

struct F16 {
  using Element = uint16_t;
  static float one(uint16_t value) { return f32_of_f16(value); }
  static FloatVector vector(const uint16_t* from) {
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
    return FloatVector{one(from[0]), one(from[1]), one(from[2]), one(from[3])};
#endif
  }
};

template <class Source>
FloatVector first_of(const typename Source::Element* from, int64_t count) {
  float buffer[kFloatLanes] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = Source::one(from[i]);
  return load<FloatVector>(buffer);
}

// ── Streaming rows of rhs ───────────────────────────────────────

constexpr int kStreamRows = 8, kStreamSteps = 16;
// Bytes of a row of rhs that are asked for before they are needed: the processor's own prefetching falls
// behind with so many rows at once.
constexpr int64_t kStreamAhead = 512;
#if defined(__AVX512F__)
constexpr int kStreamVectors = 2;  // 16 sums, so that a value of lhs serves two products
#else
constexpr int kStreamVectors = 1;
#endif

// Some terms for kRows rows × kVectors vectors of the result.
template <class Source, int kRows, int kVectors>
inline void stream_vectors(int64_t steps, const float* lhs, int64_t lhs_stride,
                           const typename Source::Element* rhs, int64_t rhs_stride, float* result,
                           int64_t result_stride, bool first) {
  FloatVector sums[kRows][kVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = first ? FloatVector{} : load<FloatVector>(result + i * result_stride + j * kFloatLanes);
  }
  for (int64_t step = 0; step < steps; ++step) {
    FloatVector values[kVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const auto* from = rhs + step * rhs_stride + j * kFloatLanes;
      values[j] = Source::vector(from);
      __builtin_prefetch(reinterpret_cast<const char*>(from) + kStreamAhead, 0, 2);
    }
    HLOSIM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const FloatVector value = splat(lhs[step * lhs_stride + i]);
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j) sums[i][j] = multiply_add(value, values[j], sums[i][j]);
    }
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) store(result + i * result_stride + j * kFloatLanes, sums[i][j]);
  }
}

// The last `count` columns, fewer than a vector.
template <class Source, int kRows>
void stream_rest(int64_t steps, const float* lhs, int64_t lhs_stride, const typename Source::Element* rhs,
                 int64_t rhs_stride, float* result, int64_t result_stride, int64_t count, bool first) {
  const Lanes lanes(count);
  for (int i = 0; i < kRows; ++i) {
    float* at = result + i * result_stride;
    FloatVector sum = first ? FloatVector{} : load_first(at, lanes);
    for (int64_t step = 0; step < steps; ++step)
      sum = multiply_add(splat(lhs[step * lhs_stride + i]), first_of<Source>(rhs + step * rhs_stride, count),
                         sum);
    store_first(at, sum, lanes);
  }
}

// Adds some terms to kRows rows of the result, or begins them.
template <class Source, int kRows>
void stream_steps(int64_t steps, const float* lhs, int64_t lhs_stride, const typename Source::Element* rhs,
                  int64_t rhs_stride, float* result, int64_t result_stride, int64_t n, bool first) {
  constexpr int64_t kWide = kStreamVectors * kFloatLanes;
  int64_t column = 0;
  for (; column + kWide <= n; column += kWide)
    stream_vectors<Source, kRows, kStreamVectors>(steps, lhs, lhs_stride, rhs + column, rhs_stride,
                                                  result + column, result_stride, first);
  for (; column + kFloatLanes <= n; column += kFloatLanes)
    stream_vectors<Source, kRows, 1>(steps, lhs, lhs_stride, rhs + column, rhs_stride, result + column,
                                     result_stride, first);
  if (column < n)
    stream_rest<Source, kRows>(steps, lhs, lhs_stride, rhs + column, rhs_stride, result + column,
                               result_stride, n - column, first);
}

template <class Source, int kRows = kStreamRows>
void stream_rows(int64_t rows, int64_t steps, const float* lhs, int64_t lhs_stride,
                 const typename Source::Element* rhs, int64_t rhs_stride, float* result,
                 int64_t result_stride, int64_t n, bool first) {
  if (rows == kRows)
    return stream_steps<Source, kRows>(steps, lhs, lhs_stride, rhs, rhs_stride, result, result_stride, n,
                                       first);
  if constexpr (kRows > 1)
    stream_rows<Source, kRows - 1>(rows, steps, lhs, lhs_stride, rhs, rhs_stride, result, result_stride, n,
                                   first);
}

template <class Source>
void stream(const MatmulDirect& product) {
  const auto* rhs = static_cast<const typename Source::Element*>(product.rhs);
  for (int64_t k = 0; k < product.k; k += kStreamSteps) {
    const int64_t steps = product.k - k < kStreamSteps ? product.k - k : kStreamSteps;
    for (int64_t row = 0; row < product.m; row += kStreamRows)
      stream_rows<Source>(product.m - row < kStreamRows ? product.m - row : kStreamRows, steps,
                          product.lhs + k * product.m + row, product.m, rhs + k * product.rhs_stride,
                          product.rhs_stride, product.result + row * product.result_stride,
                          product.result_stride, product.n, k == 0);
  }
}

// ── Scalar products with columns of rhs ─────────────────────────

#if defined(__AVX512F__)
constexpr int kDotRows = 4, kDotColumns = 6;  // 24 sums, 6 columns and a row: 31 of 32 registers
#else
constexpr int kDotRows = 2, kDotColumns = 4;
#endif

float sum_of(FloatVector vector) {
  float lanes[kFloatLanes];
  store(lanes, vector);
  for (int half = kFloatLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

template <class Source, int kRows, int kColumns>
void dots_tile(const MatmulDirect& product, int64_t row, int64_t column) {
  const auto* b = static_cast<const typename Source::Element*>(product.rhs) + column * product.rhs_stride;
  const float* a = product.lhs + row * product.lhs_row_stride;
  FloatVector sums[kRows][kColumns];
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kColumns; ++j) sums[i][j] = FloatVector{};
  }
  const auto add = [&](auto rows_of, auto columns_of) {
    FloatVector columns[kColumns];
    HLOSIM_UNROLL
    for (int j = 0; j < kColumns; ++j) columns[j] = columns_of(b + j * product.rhs_stride);
    HLOSIM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const FloatVector values = rows_of(a + i * product.lhs_row_stride);
      HLOSIM_UNROLL
      for (int j = 0; j < kColumns; ++j) sums[i][j] = multiply_add(values, columns[j], sums[i][j]);
    }
  };
  int64_t k = 0;
  for (; k + kFloatLanes <= product.k; k += kFloatLanes)
    add([k](const float* from) { return load<FloatVector>(from + k); },
        [k](const auto* from) { return Source::vector(from + k); });
  const int64_t rest = product.k - k;
  if (rest > 0)
    add([=](const float* from) { return first_of<F32>(from + k, rest); },
        [=](const auto* from) { return first_of<Source>(from + k, rest); });
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kColumns; ++j)
      product.result[(row + i) * product.result_stride + column + j] = sum_of(sums[i][j]);
  }
}

template <class Source, int kColumns>
void dots_rows(const MatmulDirect& product, int64_t column) {
  int64_t row = 0;
  for (; row + kDotRows <= product.m; row += kDotRows)
    dots_tile<Source, kDotRows, kColumns>(product, row, column);
  for (; row < product.m; ++row) dots_tile<Source, 1, kColumns>(product, row, column);
}

template <class Source>
void dots(const MatmulDirect& product) {
  int64_t column = 0;
  for (; column + kDotColumns <= product.n; column += kDotColumns)
    dots_rows<Source, kDotColumns>(product, column);
  for (; column < product.n; ++column) dots_rows<Source, 1>(product, column);
}

}  // namespace

const MatmulDirectKernels kMatmulDirect = {.small_columns = kSmallVectors * kFloatLanes,
                                           .small = small,
                                           .stream_f32 = stream<F32>,
                                           .stream_bf16 = stream<Bf16>,
                                           .stream_f16 = stream<F16>,
                                           .dots_f32 = dots<F32>,
                                           .dots_bf16 = dots<Bf16>,
                                           .dots_f16 = dots<F16>};

}  // namespace hlosim::HLOSIM_ISA
