// e^x of f32, for inclusion by *.kernel.cc files: local to the file.
//
//   if (all_within(values, 87.0f)) result = exp_within(values[0]);     // four vectors at a time
//   else result = Exp::of(x);                                          // the same bits, and any x
#pragma once

#include <cstdint>

#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
inline float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// c[0] + c[1] x + c[2] x² + …
template <class T, int kCount>
T polynomial(T x, const T (&c)[kCount]) {
  T p = c[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) p = p * x + c[i];
  return p;
}

/// 1.5 · 2^23: adding it rounds to an integer, which then stands in the low bits.
constexpr float kRound = 0x1.8p23f;
/// The first part of ln 2 has 15 bits: its products with integers up to 2^9 are exact.
constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 1.42860682031e-6f;
/// (e^r - 1 - r) / r² on ±ln2/2: 2^-28.
constexpr float kExpRest[] = {0.4999999343f, 0.1666652035f, 0.04166839191f, 0.00836875001f, 0.001381448585f};

struct Exp {
  static float of(float x) {
    float t = x > 89.0f ? 89.0f : x;
    t = t < -104.0f ? -104.0f : t;  // exp is below half of the smallest subnormal
    const float rounded = t * 0x1.715476p0f + kRound;
    const float k = rounded - kRound;
    const int32_t exponent = static_cast<int32_t>(bits_of(rounded)) - static_cast<int32_t>(bits_of(kRound));
    const float r = (t - k * kLn2High) - k * kLn2Low;
    const float p = 1.0f + (r + r * r * polynomial(r, kExpRest));
    // 2^k in two factors: the second product may leave the range or round into the subnormals.
    const int32_t half = exponent >> 1;
    const float result = p * as_float(static_cast<uint32_t>(half + 127) << 23) *
                         as_float(static_cast<uint32_t>(exponent - half + 127) << 23);
    return x != x ? x : result;
  }
};

// Where all of some vectors are within ±87 the parts that are for the others are left out; the bits are the
// same.
constexpr int kExpVectors = 4;

/// Exp::of for |t| up to 87.
[[gnu::always_inline]] inline FloatVector exp_within(FloatVector t) {
  const FloatVector rounded = t * 0x1.715476p0f + kRound;
  const FloatVector k = rounded - kRound;
  const FloatVector r = (t - k * kLn2High) - k * kLn2Low;
  FloatVector p = r * kExpRest[4] + kExpRest[3];
  p = p * r + kExpRest[2];
  p = p * r + kExpRest[1];
  p = p * r + kExpRest[0];
  return (1.0f + (r + r * r * p)) * (FloatVector)(((Uint32Vector)rounded + 127u) << 23);
}

/// None is NaN or beyond ±limit.
inline bool all_within(const FloatVector (&values)[kExpVectors], float limit) {
  const Uint32Vector no_sign = splat(0x7fffffffu);
#if defined(__AVX512F__)
  const auto larger = [](Uint32Vector a, Uint32Vector b) {
    return (Uint32Vector)_mm512_max_epi32((__m512i)a, (__m512i)b);
  };
#elif defined(__AVX2__)
  const auto larger = [](Uint32Vector a, Uint32Vector b) {
    return (Uint32Vector)_mm256_max_epi32((__m256i)a, (__m256i)b);
  };
#else
  const auto larger = [](Uint32Vector a, Uint32Vector b) {
    return (Uint32Vector)_mm_max_epi32((__m128i)a, (__m128i)b);
  };
#endif
  Uint32Vector largest = (Uint32Vector)values[0] & no_sign;
  HLOSIM_UNROLL
  for (int v = 1; v < kExpVectors; ++v) largest = larger(largest, (Uint32Vector)values[v] & no_sign);
  const Uint32Vector most = splat(bits_of(limit));
#if defined(__AVX512F__)
  return _mm512_cmpgt_epi32_mask((__m512i)largest, (__m512i)most) == 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32((__m256i)largest, (__m256i)most)) == 0;
#else
  return _mm_movemask_epi8(_mm_cmpgt_epi32((__m128i)largest, (__m128i)most)) == 0;
#endif
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
