// Complex numbers as neighbouring lanes, (re im re im …). For *.kernel.cc only.
//
//   const FloatVector product = minus_plus(real_of_a * b, swapped(imaginary_of_a * b));
#pragma once

#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// (im re im re …)
inline FloatVector swapped(FloatVector v) {
#if defined(__AVX512F__)
  return _mm512_permute_ps(v, 0xb1);
#elif defined(__AVX2__)
  return _mm256_permute_ps(v, 0xb1);
#else
  return _mm_shuffle_ps(v, v, 0xb1);
#endif
}
inline DoubleVector swapped(DoubleVector v) {
#if defined(__AVX512F__)
  return _mm512_permute_pd(v, 0x55);
#elif defined(__AVX2__)
  return _mm256_permute_pd(v, 0x5);
#else
  return _mm_shuffle_pd(v, v, 1);
#endif
}

// a - b in lanes of real parts, a + b in those of imaginary parts.
inline FloatVector minus_plus(FloatVector a, FloatVector b) {
#if defined(__AVX512F__)
  return _mm512_mask_sub_ps(a + b, 0x5555, a, b);
#elif defined(__AVX2__)
  return _mm256_addsub_ps(a, b);
#else
  return _mm_addsub_ps(a, b);
#endif
}
inline DoubleVector minus_plus(DoubleVector a, DoubleVector b) {
#if defined(__AVX512F__)
  return _mm512_mask_sub_pd(a + b, 0x55, a, b);
#elif defined(__AVX2__)
  return _mm256_addsub_pd(a, b);
#else
  return _mm_addsub_pd(a, b);
#endif
}

// i · v: (-im re -im re …)
inline FloatVector turned(FloatVector v) { return minus_plus(splat(-0.0f), swapped(v)); }
inline DoubleVector turned(DoubleVector v) { return minus_plus(splat(-0.0), swapped(v)); }

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
