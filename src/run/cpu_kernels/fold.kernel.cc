#include "cpu_kernels/fold.h"

#include "cpu_kernels/isa_across.h"
#include "cpu_kernels/isa_partial.h"
#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// ── elements and accumulators ───────────────────────────────────

struct BFloat16 {
  uint16_t bits;
};

inline float to_float(BFloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

inline BFloat16 to_bfloat16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  if (value != value) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

template <class A, class T>
inline A widened(T value) {
  return static_cast<A>(value);
}
template <>
inline float widened<float, BFloat16>(BFloat16 value) {
  return to_float(value);
}
template <>
inline double widened<double, BFloat16>(BFloat16 value) {
  return to_float(value);
}

template <class T, class A>
inline T narrowed(A value) {
  return static_cast<T>(value);
}
template <>
inline BFloat16 narrowed<BFloat16, float>(float value) {
  return to_bfloat16(value);
}
template <>
inline BFloat16 narrowed<BFloat16, double>(double value) {
  return to_bfloat16(static_cast<float>(value));
}

// ── operations ──────────────────────────────────────────────────

template <class T>
struct IsFloat {
  static constexpr bool value = false;
};
template <>
struct IsFloat<float> {
  static constexpr bool value = true;
};
template <>
struct IsFloat<double> {
  static constexpr bool value = true;
};

// In which integers wrap as they do in T, without being promoted to signed ones.
template <class T>
struct Wrapping {
  using Type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using Type = uint64_t;
};
template <>
struct Wrapping<uint64_t> {
  using Type = uint64_t;
};

template <class T>
struct Unsigned {
  using Type = T;
};
template <>
struct Unsigned<int8_t> {
  using Type = uint8_t;
};
template <>
struct Unsigned<int16_t> {
  using Type = uint16_t;
};
template <>
struct Unsigned<int32_t> {
  using Type = uint32_t;
};
template <>
struct Unsigned<int64_t> {
  using Type = uint64_t;
};

// Smallest and largest value; infinities of floats.
template <class T>
constexpr T lowest() {
  if constexpr (IsFloat<T>::value)
    return static_cast<T>(-__builtin_inf());
  else if constexpr (static_cast<T>(-1) > static_cast<T>(0))
    return 0;
  else
    return static_cast<T>(static_cast<typename Unsigned<T>::Type>(1) << (8 * sizeof(T) - 1));
}
template <class T>
constexpr T highest() {
  if constexpr (IsFloat<T>::value)
    return static_cast<T>(__builtin_inf());
  else
    return static_cast<T>(~lowest<T>());
}

struct Add {
  template <class T>
  static constexpr T identity() {
    if constexpr (IsFloat<T>::value)
      return static_cast<T>(-0.0);
    else
      return 0;
  }
  template <class T>
  static T apply(T a, T b) {
    if constexpr (IsFloat<T>::value)
      return a + b;
    else
      return static_cast<T>(static_cast<typename Wrapping<T>::Type>(a) +
                            static_cast<typename Wrapping<T>::Type>(b));
  }
};
struct Multiply {
  template <class T>
  static constexpr T identity() {
    return 1;
  }
  template <class T>
  static T apply(T a, T b) {
    if constexpr (IsFloat<T>::value)
      return a * b;
    else
      return static_cast<T>(static_cast<typename Wrapping<T>::Type>(a) *
                            static_cast<typename Wrapping<T>::Type>(b));
  }
};
// NaN wins and stays.
struct Maximum {
  template <class T>
  static constexpr T identity() {
    return lowest<T>();
  }
  template <class T>
  static T apply(T a, T b) {
    return b > a || b != b ? b : a;
  }
};
struct Minimum {
  template <class T>
  static constexpr T identity() {
    return highest<T>();
  }
  template <class T>
  static T apply(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct And {
  template <class T>
  static constexpr T identity() {
    return static_cast<T>(~T{0});
  }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static constexpr T identity() {
    return 0;
  }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static constexpr T identity() {
    return 0;
  }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Sums and products of small floats are kept in double, their extrema in float.
template <class T, class Op>
struct Accumulator {
  using Type = T;
};
template <>
struct Accumulator<float, Add> {
  using Type = double;
};
template <>
struct Accumulator<float, Multiply> {
  using Type = double;
};
template <>
struct Accumulator<BFloat16, Add> {
  using Type = double;
};
template <>
struct Accumulator<BFloat16, Multiply> {
  using Type = double;
};
template <>
struct Accumulator<BFloat16, Maximum> {
  using Type = float;
};
template <>
struct Accumulator<BFloat16, Minimum> {
  using Type = float;
};

// What the lanes of a row are kept in: for a few hundred elements a lane of a 16-bit float, float will do.
template <class T, class Op>
struct Lane {
  using Type = typename Accumulator<T, Op>::Type;
};
template <>
struct Lane<BFloat16, Add> {
  using Type = float;
};

// ── extrema of f32 ──────────────────────────────────────────────

template <class T, class Op>
struct IsExtremum {
  static constexpr bool value = false;
};
template <>
struct IsExtremum<float, Maximum> {
  static constexpr bool value = true;
};
template <>
struct IsExtremum<float, Minimum> {
  static constexpr bool value = true;
};

// What apply(a, b) is for numbers: the processors' instructions return their second operand unless the first
// one is beyond it.
template <class Op>
inline FloatVector extremum(FloatVector a, FloatVector b) {
  constexpr bool kLargest = Op::template identity<float>() < 0;
#if defined(__AVX512F__)
  return kLargest ? _mm512_max_ps(b, a) : _mm512_min_ps(b, a);
#elif defined(__AVX2__)
  return kLargest ? _mm256_max_ps(b, a) : _mm256_min_ps(b, a);
#else
  return kLargest ? _mm_max_ps(b, a) : _mm_min_ps(b, a);
#endif
}

// Lanes of either vector that are NaN, added to those known.
#if defined(__AVX512F__)
using NanLanes = __mmask16;
inline NanLanes with_nans(NanLanes known, FloatVector a, FloatVector b) {
  return static_cast<NanLanes>(known | _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q));
}
inline bool any(NanLanes lanes) { return lanes != 0; }
#elif defined(__AVX2__)
using NanLanes = FloatVector;
inline NanLanes with_nans(NanLanes known, FloatVector a, FloatVector b) {
  return _mm256_or_ps(known, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
inline bool any(NanLanes lanes) { return _mm256_movemask_ps(lanes) != 0; }
#else
using NanLanes = FloatVector;
inline NanLanes with_nans(NanLanes known, FloatVector a, FloatVector b) {
  return _mm_or_ps(known, _mm_cmpunord_ps(a, b));
}
inline bool any(NanLanes lanes) { return _mm_movemask_ps(lanes) != 0; }
#endif

// What Fold::in_lanes makes of n values in kVectors · kFloatLanes lanes, of which each meets the same others
// in the same order. False if one of them is NaN.
template <class Op, int kVectors>
inline bool extremum_of_numbers(const float* values, int64_t n, float& found) {
  FloatVector lanes[kVectors];
  NanLanes nans = {};
  for (int64_t i = 0; i < n; i += kVectors * kFloatLanes) {
    FloatVector next[kVectors];
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      next[j] = load<FloatVector>(values + i + j * kFloatLanes);
      lanes[j] = i == 0 ? next[j] : extremum<Op>(lanes[j], next[j]);
    }
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; j += 2) nans = with_nans(nans, next[j], next[j + 1]);
  }
  if (any(nans)) return false;
  HLOSIM_UNROLL
  for (int half = kVectors / 2; half > 0; half /= 2) {
    HLOSIM_UNROLL
    for (int j = 0; j < half; ++j) lanes[j] = extremum<Op>(lanes[j], lanes[j + half]);
  }
  found = across(lanes[0], [](FloatVector a, FloatVector b) { return extremum<Op>(a, b); });
  return true;
}

// ── sums in f64 ─────────────────────────────────────────────────

inline DoubleVector widened_vector(const double* from) { return load<DoubleVector>(from); }
inline DoubleVector widened_vector(const float* from) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
  return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
}

// What Fold::in_lanes makes of n values, with its lanes in registers.
template <int kVectors, class T>
inline double sum_in_vectors(const T* values, int64_t n) {
  constexpr int kDoubleLanes = kVectorBytes / 8;
  DoubleVector lanes[kVectors];
  HLOSIM_UNROLL
  for (int j = 0; j < kVectors; ++j) lanes[j] = widened_vector(values + j * kDoubleLanes);
  for (int64_t i = kVectors * kDoubleLanes; i < n; i += kVectors * kDoubleLanes) {
    HLOSIM_UNROLL
    for (int j = 0; j < kVectors; ++j) lanes[j] += widened_vector(values + i + j * kDoubleLanes);
  }
  HLOSIM_UNROLL
  for (int half = kVectors / 2; half > 0; half /= 2) {
    HLOSIM_UNROLL
    for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return across(lanes[0], [](DoubleVector a, DoubleVector b) { return a + b; });
}

template <class T, class Op>
struct IsSumInDouble {
  static constexpr bool value = false;
};
template <>
struct IsSumInDouble<float, Add> {
  static constexpr bool value = true;
};
template <>
struct IsSumInDouble<double, Add> {
  static constexpr bool value = true;
};

// ── kernels ─────────────────────────────────────────────────────

template <class T, class Op>
struct Fold {
  using A = typename Accumulator<T, Op>::Type;
  using L = typename Lane<T, Op>::Type;
  // Independent accumulators of a row, 256 bytes of them on every level; a few for its end.
  static constexpr int64_t kLanes = 256 / static_cast<int64_t>(sizeof(L)), kFewLanes = 8;
  static constexpr int64_t kMostSteps = 256;

  // Folds n >= width elements, a multiple of width, in lanes.
  template <int64_t width>
  static L in_lanes(const T* values, int64_t n) {
    if constexpr (IsExtremum<T, Op>::value && width > kFewLanes)
      if (L found; extremum_of_numbers<Op, width / kFloatLanes>(values, n, found)) return found;
    if constexpr (IsSumInDouble<T, Op>::value) return sum_in_vectors<width * 8 / kVectorBytes>(values, n);
    L lanes[width];
    for (int64_t j = 0; j < width; ++j) lanes[j] = widened<L>(values[j]);
    for (int64_t i = width; i < n; i += width)
      for (int64_t j = 0; j < width; ++j) lanes[j] = Op::apply(lanes[j], widened<L>(values[i + j]));
    for (int64_t half = width / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) lanes[j] = Op::apply(lanes[j], lanes[j + half]);
    return lanes[0];
  }

  static A of_row(const T* values, int64_t n, A total) {
    while (n >= kLanes) {
      const int64_t steps = n / kLanes < kMostSteps ? n / kLanes : kMostSteps;
      total = Op::apply(total, static_cast<A>(in_lanes<kLanes>(values, steps * kLanes)));
      values += steps * kLanes;
      n -= steps * kLanes;
    }
    if (n >= kFewLanes) {
      const int64_t whole = n / kFewLanes * kFewLanes;
      total = Op::apply(total, static_cast<A>(in_lanes<kFewLanes>(values, whole)));
      values += whole;
      n -= whole;
    }
    for (int64_t i = 0; i < n; ++i) total = Op::apply(total, widened<A>(values[i]));
    return total;
  }

  static void row(const void* in, int64_t n, void* accumulator) {
    A total;
    __builtin_memcpy(&total, accumulator, sizeof(A));
    total = of_row(static_cast<const T*>(in), n, total);
    __builtin_memcpy(accumulator, &total, sizeof(A));
  }

  static void rows(const void* in, int64_t n, int64_t count, const void* init, void* out) {
    const T* values = static_cast<const T*>(in);
    T first;
    __builtin_memcpy(&first, init, sizeof(T));
    for (int64_t r = 0; r < count; ++r)
      static_cast<T*>(out)[r] = narrowed<T>(of_row(values + r * n, n, widened<A>(first)));
  }

  static void columns(const void* in, int64_t stride, int64_t rows, int64_t n, void* accumulators) {
    A* __restrict totals = static_cast<A*>(accumulators);
    const char* row = static_cast<const char*>(in);
    int64_t r = 0;
    // Four rows at once, in order: the accumulators are read and written once for them.
    for (; r + 4 <= rows; r += 4, row += 4 * stride) {
      const T* __restrict a = reinterpret_cast<const T*>(row);
      const T* __restrict b = reinterpret_cast<const T*>(row + stride);
      const T* __restrict c = reinterpret_cast<const T*>(row + 2 * stride);
      const T* __restrict d = reinterpret_cast<const T*>(row + 3 * stride);
      for (int64_t j = 0; j < n; ++j) {
        A total = Op::apply(totals[j], widened<A>(a[j]));
        total = Op::apply(total, widened<A>(b[j]));
        total = Op::apply(total, widened<A>(c[j]));
        totals[j] = Op::apply(total, widened<A>(d[j]));
      }
    }
    for (; r < rows; ++r, row += stride) {
      const T* __restrict a = reinterpret_cast<const T*>(row);
      for (int64_t j = 0; j < n; ++j) totals[j] = Op::apply(totals[j], widened<A>(a[j]));
    }
  }

  static void combine(const void* others, int64_t n, void* accumulators) {
    A* __restrict totals = static_cast<A*>(accumulators);
    const A* __restrict more = static_cast<const A*>(others);
    for (int64_t j = 0; j < n; ++j) totals[j] = Op::apply(totals[j], more[j]);
  }

  static void clear(void* accumulators, int64_t n) {
    A* totals = static_cast<A*>(accumulators);
    for (int64_t j = 0; j < n; ++j) totals[j] = Op::template identity<A>();
  }

  static void widen(const void* in, int64_t n, void* accumulators) {
    const T* values = static_cast<const T*>(in);
    A* totals = static_cast<A*>(accumulators);
    for (int64_t j = 0; j < n; ++j) totals[j] = widened<A>(values[j]);
  }

  static void finish(const void* accumulators, int64_t n, void* out) {
    const A* totals = static_cast<const A*>(accumulators);
    T* values = static_cast<T*>(out);
    for (int64_t j = 0; j < n; ++j) values[j] = narrowed<T>(totals[j]);
  }

  static constexpr FoldKernel kKernel = {sizeof(T), sizeof(A), row,   rows,  columns,
                                         combine,   clear,     widen, finish};
};

}  // namespace

#define HLOSIM_FLOAT_FOLDS(T)                                                                                \
  {                                                                                                          \
    Fold<T, Add>::kKernel, Fold<T, Multiply>::kKernel, Fold<T, Maximum>::kKernel, Fold<T, Minimum>::kKernel, \
        {}, {}, {}                                                                                           \
  }
// U: T without a sign. Sums, products and bits are the same in both.
#define HLOSIM_INTEGER_FOLDS(T, U)                                                                           \
  {                                                                                                          \
    Fold<U, Add>::kKernel, Fold<U, Multiply>::kKernel, Fold<T, Maximum>::kKernel, Fold<T, Minimum>::kKernel, \
        Fold<U, And>::kKernel, Fold<U, Or>::kKernel, Fold<U, Xor>::kKernel                                   \
  }

const FoldKernels kFolds = {
    {HLOSIM_FLOAT_FOLDS(float), HLOSIM_FLOAT_FOLDS(double), HLOSIM_FLOAT_FOLDS(BFloat16),
     HLOSIM_INTEGER_FOLDS(int8_t, uint8_t), HLOSIM_INTEGER_FOLDS(uint8_t, uint8_t),
     HLOSIM_INTEGER_FOLDS(int16_t, uint16_t), HLOSIM_INTEGER_FOLDS(uint16_t, uint16_t),
     HLOSIM_INTEGER_FOLDS(int32_t, uint32_t), HLOSIM_INTEGER_FOLDS(uint32_t, uint32_t),
     HLOSIM_INTEGER_FOLDS(int64_t, uint64_t), HLOSIM_INTEGER_FOLDS(uint64_t, uint64_t)}};

}  // namespace hlosim::HLOSIM_ISA
