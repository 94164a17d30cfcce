// Vectors of f32 of which only the first lanes are in memory. For *.kernel.cc only.
#pragma once

#include "kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr int kFloatLanes = kVectorBytes / 4;

#if defined(__AVX512F__)
struct Lanes {
  explicit Lanes(int64_t count) : mask(static_cast<__mmask16>((1u << count) - 1)) {}
  __mmask16 mask;
};
inline FloatVector load_first(const float* from, Lanes lanes) {
  return _mm512_maskz_loadu_ps(lanes.mask, from);
}
inline void store_first(float* to, FloatVector value, Lanes lanes) {
  _mm512_mask_storeu_ps(to, lanes.mask, value);
}
#elif defined(__AVX2__)
struct Lanes {
  explicit Lanes(int64_t count)
      : mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  __m256i mask;
};
inline FloatVector load_first(const float* from, Lanes lanes) { return _mm256_maskload_ps(from, lanes.mask); }
inline void store_first(float* to, FloatVector value, Lanes lanes) {
  _mm256_maskstore_ps(to, lanes.mask, value);
}
#else
struct Lanes {
  explicit Lanes(int64_t lane_count) : count(lane_count) {}
  int64_t count;
};
inline FloatVector load_first(const float* from, Lanes lanes) {
  if (lanes.count == 4) return load<FloatVector>(from);
  FloatVector value = {from[0], 0, 0, 0};
  if (lanes.count > 1) value[1] = from[1];
  if (lanes.count > 2) value[2] = from[2];
  return value;
}
inline void store_first(float* to, FloatVector value, Lanes lanes) {
  if (lanes.count == 4) return store(to, value);
  to[0] = value[0];
  if (lanes.count > 1) to[1] = value[1];
  if (lanes.count > 2) to[2] = value[2];
}
#endif

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
