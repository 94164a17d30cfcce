// Vectors of the instruction set level that a kernel source is compiled for. For *.kernel.cc only.
#pragma once

#include <cstdint>

#include "base/intrinsics.h"

#ifndef HLOSIM_ISA
#define HLOSIM_ISA isa_v2
#endif

// In front of a loop of constant length over an array of vectors: they are to live in registers.
#ifdef __clang__
#define HLOSIM_UNROLL _Pragma("unroll")
#else
#define HLOSIM_UNROLL _Pragma("GCC unroll 16")
#endif

namespace hlosim::HLOSIM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

typedef float FloatVector __attribute__((vector_size(kVectorBytes)));
typedef double DoubleVector __attribute__((vector_size(kVectorBytes)));
typedef uint32_t Uint32Vector __attribute__((vector_size(kVectorBytes)));
typedef uint64_t Uint64Vector __attribute__((vector_size(kVectorBytes)));

template <class Vector>
inline Vector load(const void* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class Vector>
inline void store(void* to, Vector value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// acc + a · b, rounded once where the level has an instruction for it.
inline FloatVector multiply_add(FloatVector a, FloatVector b, FloatVector acc) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, acc);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, acc);
#else
  return acc + a * b;
#endif
}

inline DoubleVector multiply_add(DoubleVector a, DoubleVector b, DoubleVector acc) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, acc);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, acc);
#else
  return acc + a * b;
#endif
}

inline FloatVector splat(float value) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(value);
#elif defined(__AVX2__)
  return _mm256_set1_ps(value);
#else
  return _mm_set1_ps(value);
#endif
}

inline DoubleVector splat(double value) {
#if defined(__AVX512F__)
  return _mm512_set1_pd(value);
#elif defined(__AVX2__)
  return _mm256_set1_pd(value);
#else
  return _mm_set1_pd(value);
#endif
}

inline Uint32Vector splat(uint32_t value) {
#if defined(__AVX512F__)
  return (Uint32Vector)_mm512_set1_epi32(static_cast<int>(value));
#elif defined(__AVX2__)
  return (Uint32Vector)_mm256_set1_epi32(static_cast<int>(value));
#else
  return (Uint32Vector)_mm_set1_epi32(static_cast<int>(value));
#endif
}

inline Uint64Vector splat(uint64_t value) {
#if defined(__AVX512F__)
  return (Uint64Vector)_mm512_set1_epi64(static_cast<int64_t>(value));
#elif defined(__AVX2__)
  return (Uint64Vector)_mm256_set1_epi64x(static_cast<int64_t>(value));
#else
  return (Uint64Vector)_mm_set1_epi64x(static_cast<int64_t>(value));
#endif
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
