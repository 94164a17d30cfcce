#include "cpu_kernels/softmax.h"

#include "cpu_kernels/element/element_exp.h"
#include "cpu_kernels/isa_across.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr int kLanes = kVectorBytes / 4, kDoubleLanes = kVectorBytes / 8;
constexpr int kStep = static_cast<int>(kSoftmaxStep);
constexpr int kVectors = kStep / kLanes;

inline FloatVector larger(FloatVector a, FloatVector b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(b, a);
#elif defined(__AVX2__)
  return _mm256_max_ps(b, a);
#else
  return _mm_max_ps(b, a);
#endif
}

// All bits of lanes where a or b is NaN.
inline Uint32Vector nans(FloatVector a, FloatVector b) {
#if defined(__AVX512F__)
  return (Uint32Vector)_mm512_movm_epi32(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q));
#elif defined(__AVX2__)
  return (Uint32Vector)_mm256_cmp_ps(a, b, _CMP_UNORD_Q);
#else
  return (Uint32Vector)_mm_cmpunord_ps(a, b);
#endif
}
inline bool any(Uint32Vector lanes) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)lanes, (__m512i)lanes) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8((__m256i)lanes) != 0;
#else
  return _mm_movemask_epi8((__m128i)lanes) != 0;
#endif
}

// False: there is a NaN. Of zeros of both signs it may be either: what is left of it is the same.
inline bool largest_of_numbers(const float* x, int64_t n, float& found) {
  FloatVector largest[kVectors];
  Uint32Vector unordered = {};
  for (int64_t i = 0; i < n; i += kStep) {
    FloatVector next[kVectors];
    HLOSIM_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      next[v] = load<FloatVector>(x + i + v * kLanes);
      largest[v] = i == 0 ? next[v] : larger(largest[v], next[v]);
    }
    HLOSIM_UNROLL
    for (int v = 0; v < kVectors; v += 2) unordered |= nans(next[v], next[v + 1]);
  }
  HLOSIM_UNROLL
  for (int half = kVectors / 2; half > 0; half /= 2) {
    HLOSIM_UNROLL
    for (int v = 0; v < half; ++v) largest[v] = larger(largest[v], largest[v + half]);
  }
  found = across(largest[0], larger);
  return !any(unordered);
}

inline DoubleVector lower_half(FloatVector v) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
#else
  return _mm_cvtps_pd(v);
#endif
}
inline DoubleVector upper_half(FloatVector v) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
#else
  return _mm_cvtps_pd(_mm_movehl_ps(v, v));
#endif
}

// Sums as those of fold.kernel.cc: element i goes to lane i % 32, and lanes meet in halves.
struct Sum {
  static constexpr int kVectors = 32 / kDoubleLanes;
  DoubleVector lanes[kVectors];

  // Vector `number` of a step.
  [[gnu::always_inline]] void add(int number, FloatVector values) {
    lanes[2 * number % kVectors] += lower_half(values);
    lanes[(2 * number + 1) % kVectors] += upper_half(values);
  }
  [[gnu::always_inline]] double total() {
    HLOSIM_UNROLL
    for (int half = kVectors / 2; half > 0; half /= 2) {
      HLOSIM_UNROLL
      for (int v = 0; v < half; ++v) lanes[v] += lanes[v + half];
    }
    return across(lanes[0], [](DoubleVector a, DoubleVector b) { return a + b; });
  }
};

// Exponentials of any numbers, in their place.
[[gnu::noinline]] void exponentials(float* values) {
  for (int i = 0; i < kExpVectors * kLanes; ++i) values[i] = Exp::of(values[i]);
}

// out = e^(x - largest); their sum.
inline double exponentials(const float* x, int64_t n, float largest, float* out) {
  Sum sum = {};
  const FloatVector most = splat(largest);
  for (int64_t i = 0; i < n; i += kStep) {
    HLOSIM_UNROLL
    for (int first = 0; first < kVectors; first += kExpVectors) {
      FloatVector values[kExpVectors];
      float* to = out + i + first * kLanes;
      HLOSIM_UNROLL
      for (int v = 0; v < kExpVectors; ++v)
        values[v] = load<FloatVector>(x + i + (first + v) * kLanes) - most;
      if (all_within(values, 87.0f)) [[likely]] {
        HLOSIM_UNROLL
        for (int v = 0; v < kExpVectors; ++v) {
          values[v] = exp_within(values[v]);
          store(to + v * kLanes, values[v]);
        }
      } else {
        HLOSIM_UNROLL
        for (int v = 0; v < kExpVectors; ++v) store(to + v * kLanes, values[v]);
        exponentials(to);
        HLOSIM_UNROLL
        for (int v = 0; v < kExpVectors; ++v) values[v] = load<FloatVector>(to + v * kLanes);
      }
      HLOSIM_UNROLL
      for (int v = 0; v < kExpVectors; ++v) sum.add(first + v, values[v]);
    }
  }
  return sum.total();
}

int64_t of_numbers(const float* in, int64_t n, int64_t rows, float least, float init, float* out) {
  for (int64_t row = 0; row < rows; ++row, in += n, out += n) {
    float largest;
    if (!largest_of_numbers(in, n, largest) || least != least) return row;
    largest = largest > least ? largest : least;
    const auto sum = static_cast<float>(static_cast<double>(init) + exponentials(in, n, largest, out));
    const FloatVector divisor = splat(sum);
    for (int64_t i = 0; i < n; i += kStep) {
      HLOSIM_UNROLL
      for (int v = 0; v < kVectors; ++v)
        store(out + i + v * kLanes, load<FloatVector>(out + i + v * kLanes) / divisor);
    }
  }
  return rows;
}

}  // namespace

const SoftmaxKernels kSoftmax = {of_numbers};

}  // namespace hlosim::HLOSIM_ISA
