// Vectors of which only the first lanes are in memory. For *.kernel.cc only.
//
//   const Lanes lanes(3);
//   store_first(to, load_first<DoubleVector>(from, lanes), lanes);
#pragma once

#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr int kFloatLanes = kVectorBytes / 4;

// How many, of 4 or of 8 bytes; at least one.
#if defined(__AVX512F__)
struct Lanes {
  explicit Lanes(int64_t count) : mask(static_cast<__mmask16>((1u << count) - 1)) {}
  __mmask16 mask;
};
template <class Vector = FloatVector, class Scalar>
inline Vector load_first(const Scalar* from, Lanes lanes) {
  if constexpr (sizeof(Scalar) == 4)
    return (Vector)_mm512_maskz_loadu_epi32(lanes.mask, from);
  else
    return (Vector)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes.mask), from);
}
template <class Scalar, class Vector>
inline void store_first(Scalar* to, Vector value, Lanes lanes) {
  if constexpr (sizeof(Scalar) == 4)
    _mm512_mask_storeu_epi32(to, lanes.mask, (__m512i)value);
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes.mask), (__m512i)value);
}
#elif defined(__AVX2__)
struct Lanes {
  explicit Lanes(int64_t count)
      : mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  __m256i mask;
};
inline __m256i wide_mask(Lanes lanes) { return _mm256_cvtepi32_epi64(_mm256_castsi256_si128(lanes.mask)); }
template <class Vector = FloatVector, class Scalar>
inline Vector load_first(const Scalar* from, Lanes lanes) {
  if constexpr (sizeof(Scalar) == 4)
    return (Vector)_mm256_maskload_epi32(reinterpret_cast<const int*>(from), lanes.mask);
  else
    return (Vector)_mm256_maskload_epi64(reinterpret_cast<const long long*>(from), wide_mask(lanes));
}
template <class Scalar, class Vector>
inline void store_first(Scalar* to, Vector value, Lanes lanes) {
  if constexpr (sizeof(Scalar) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), lanes.mask, (__m256i)value);
  else
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), wide_mask(lanes), (__m256i)value);
}
#else
struct Lanes {
  explicit Lanes(int64_t lane_count) : count(lane_count) {}
  int64_t count;
};
template <class Vector = FloatVector, class Scalar>
inline Vector load_first(const Scalar* from, Lanes lanes) {
  constexpr int kLanes = static_cast<int>(sizeof(Vector) / sizeof(Scalar));
  if (lanes.count == kLanes) return load<Vector>(from);
  Vector value = {from[0]};
  if constexpr (kLanes > 2) {
    if (lanes.count > 1) value[1] = from[1];
    if (lanes.count > 2) value[2] = from[2];
  }
  return value;
}
template <class Scalar, class Vector>
inline void store_first(Scalar* to, Vector value, Lanes lanes) {
  constexpr int kLanes = static_cast<int>(sizeof(Vector) / sizeof(Scalar));
  if (lanes.count == kLanes) return store(to, value);
  to[0] = value[0];
  if constexpr (kLanes > 2) {
    if (lanes.count > 1) to[1] = value[1];
    if (lanes.count > 2) to[2] = value[2];
  }
}
#endif

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
