// From the lanes of a vector to one value: lanes of the second half meet those of the first, again and again,
// as in a loop over halves of an array. For *.kernel.cc only.
//
//   const float sum = across(lanes, [](auto a, auto b) { return a + b; });
#pragma once

#include "cpu_kernels/isa_vector.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// What lanes of the second half become doesn't matter.
template <class Combine>
inline float across(FloatVector v, Combine combine) {
#if defined(__AVX512F__)
  v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
#elif defined(__AVX2__)
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1));
#else
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1));
#endif
  return v[0];
}

template <class Combine>
inline double across(DoubleVector v, Combine combine) {
#if defined(__AVX512F__)
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1));
#elif defined(__AVX2__)
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1));
#else
  v = combine(v, __builtin_shufflevector(v, v, 1, 1));
#endif
  return v[0];
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
