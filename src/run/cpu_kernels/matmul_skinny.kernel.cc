// Products of few rows, which take as long as reading rhs takes: they read it where it lies.
#include "cpu_kernels/float_bits.h"
#include "cpu_kernels/isa_complex.h"
#include "cpu_kernels/isa_partial.h"
#include "cpu_kernels/isa_vector.h"
#include "cpu_kernels/matmul_arithmetic.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// ── Sources of rhs ──────────────────────────────────────────────

// vector()  a whole one of elements from there on
// first()   one of `count` elements and zeros

template <class KindOfSums>
struct AsIs {
  using Kind = KindOfSums;
  using Element = typename Kind::Scalar;
  using Vector = typename Kind::Vector;
  static Vector vector(const Element* from) { return load<Vector>(from); }
  static Vector first(const Element* from, int64_t count) { return load_first<Vector>(from, Lanes(count)); }
};

template <class Source>
FloatVector converted(const uint16_t* from, int64_t count) {
  float buffer[kFloatLanes] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = Source::one(from[i]);
  return load<FloatVector>(buffer);
}

struct Bf16 {
  using Kind = F32;
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
  static FloatVector first(const uint16_t* from, int64_t count) { return converted<Bf16>(from, count); }
};

struct F16 {
  using Kind = F32;
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
  static FloatVector first(const uint16_t* from, int64_t count) { return converted<F16>(from, count); }
};

// A complex number of lhs times a vector of them: re · rhs, then im · (i · rhs).
template <class Real>
struct Complex : Real {
  static constexpr int kParts = 2;
};

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

// Some terms of rows of the result. Strides are in elements, of complex numbers in parts.
template <class Source>
struct Strip {
  int64_t steps;
  const typename Source::Kind::Scalar* lhs;  // [step][row]
  int64_t lhs_stride;
  const typename Source::Element* rhs;
  int64_t rhs_stride;
  typename Source::Kind::Scalar* result;
  int64_t result_stride, n;
  bool first;  // the result begins with them
};

// kRows rows × kVectors vectors.
template <class Source, int kRows, int kVectors>
inline void stream_vectors(const Strip<Source>& strip, int64_t column) {
  using Kind = typename Source::Kind;
  using Vector = typename Kind::Vector;
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(typename Kind::Scalar)),
                kParts = Kind::kParts;
  auto* result = strip.result + column;
  Vector sums[kRows][kVectors];
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = strip.first ? Vector{} : load<Vector>(result + i * strip.result_stride + j * kLanes);
  }
  for (int64_t step = 0; step < strip.steps; ++step) {
    Vector values[kParts][kVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const auto* from = strip.rhs + step * strip.rhs_stride + column + j * kLanes;
      values[0][j] = Source::vector(from);
      if constexpr (kParts == 2) values[1][j] = turned(values[0][j]);
      __builtin_prefetch(reinterpret_cast<const char*>(from) + kStreamAhead, 0, 2);
    }
    HLOSIM_UNROLL
    for (int i = 0; i < kRows * kParts; ++i) {
      const Vector value = splat(strip.lhs[step * strip.lhs_stride + i]);
      HLOSIM_UNROLL
      for (int j = 0; j < kVectors; ++j)
        sums[i / kParts][j] = Kind::add_product(value, values[i % kParts][j], sums[i / kParts][j]);
    }
  }
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) store(result + i * strip.result_stride + j * kLanes, sums[i][j]);
  }
}

// The last columns, fewer than a vector.
template <class Source>
void stream_rest(const Strip<Source>& strip, int rows, int64_t column) {
  using Kind = typename Source::Kind;
  using Vector = typename Kind::Vector;
  const int64_t count = strip.n - column;
  const Lanes lanes(count);
  for (int i = 0; i < rows; ++i) {
    auto* at = strip.result + i * strip.result_stride + column;
    Vector sum = strip.first ? Vector{} : load_first<Vector>(at, lanes);
    for (int64_t step = 0; step < strip.steps; ++step) {
      const auto* a = strip.lhs + step * strip.lhs_stride + i * Kind::kParts;
      const Vector b = Source::first(strip.rhs + step * strip.rhs_stride + column, count);
      sum = Kind::add_product(splat(a[0]), b, sum);
      if constexpr (Kind::kParts == 2) sum = Kind::add_product(splat(a[1]), turned(b), sum);
    }
    store_first(at, sum, lanes);
  }
}

template <class Source, int kRows>
void stream_steps(const Strip<Source>& strip) {
  constexpr int64_t kLanes = kVectorBytes / static_cast<int>(sizeof(*strip.result));
  int64_t column = 0;
  for (; column + kStreamVectors * kLanes <= strip.n; column += kStreamVectors * kLanes)
    stream_vectors<Source, kRows, kStreamVectors>(strip, column);
  for (; column + kLanes <= strip.n; column += kLanes) stream_vectors<Source, kRows, 1>(strip, column);
  if (column < strip.n) stream_rest(strip, kRows, column);
}

// Numbers of 4 bytes have a kernel for each number of rows up to 8, larger ones for powers of two.
template <class Source, int kRows = kStreamRows>
void stream_rows(int64_t rows, Strip<Source> strip) {
  constexpr bool kEvery = sizeof(*strip.result) * Source::Kind::kParts == 4;
  for (; rows >= kRows; rows -= kRows) {
    stream_steps<Source, kRows>(strip);
    strip.lhs += kRows * Source::Kind::kParts;
    strip.result += kRows * strip.result_stride;
  }
  if constexpr (kRows > 1)
    if (rows > 0) stream_rows<Source, kEvery ? kRows - 1 : kRows / 2>(rows, strip);
}

template <class Source>
void stream(const MatmulDirect& product) {
  using Scalar = typename Source::Kind::Scalar;
  const int64_t stride = product.m * Source::Kind::kParts;
  for (int64_t k = 0; k < product.k; k += kStreamSteps)
    stream_rows<Source>(
        product.m, {.steps = product.k - k < kStreamSteps ? product.k - k : kStreamSteps,
                    .lhs = static_cast<const Scalar*>(product.lhs) + k * stride,
                    .lhs_stride = stride,
                    .rhs = static_cast<const typename Source::Element*>(product.rhs) + k * product.rhs_stride,
                    .rhs_stride = product.rhs_stride,
                    .result = static_cast<Scalar*>(product.result),
                    .result_stride = product.result_stride,
                    .n = product.n,
                    .first = k == 0});
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
  const float* a = static_cast<const float*>(product.lhs) + row * product.lhs_row_stride;
  auto* result = static_cast<float*>(product.result);
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
    add([=](const float* from) { return AsIs<F32>::first(from + k, rest); },
        [=](const auto* from) { return Source::first(from + k, rest); });
  HLOSIM_UNROLL
  for (int i = 0; i < kRows; ++i) {
    HLOSIM_UNROLL
    for (int j = 0; j < kColumns; ++j)
      result[(row + i) * product.result_stride + column + j] = sum_of(sums[i][j]);
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

const MatmulSkinnyKernels kMatmulSkinny = {.stream_f32 = stream<AsIs<F32>>,
                                           .stream_bf16 = stream<Bf16>,
                                           .stream_f16 = stream<F16>,
                                           .stream_f64 = stream<AsIs<F64>>,
                                           .stream_bits32 = stream<AsIs<U32>>,
                                           .stream_bits64 = stream<AsIs<U64>>,
                                           .stream_c64 = stream<AsIs<Complex<F32>>>,
                                           .stream_c128 = stream<AsIs<Complex<F64>>>,
                                           .dots_f32 = dots<AsIs<F32>>,
                                           .dots_bf16 = dots<Bf16>,
                                           .dots_f16 = dots<F16>};

}  // namespace hlosim::HLOSIM_ISA
