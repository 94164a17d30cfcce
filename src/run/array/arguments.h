// Arguments for modules that come without: random numbers, zeros, counting.
//
// Element i of a random array is a function of (seed, stream, i) alone: the i-th output r of SplitMix64
// started with the state mix(seed) ^ mix(stream + 2^63), where mix is SplitMix64's finaliser. So it depends
// neither on threads nor on other arrays, and anyone can compute it.
//
//   type        random                                        iota (element k)
//   floats      the top p bits of r, times 2^(1-p), minus 1;  k mod 2^min(p, largest exponent + 1);
//               p is the precision: 24 for f32, 8 for bf16    for f64 k
//   f8e8m0fnu   2^-(top 2 bits of r): 1, 1/2, 1/4 or 1/8      2^(k mod 8)
//   integers    the top 3 bits: 0 … 7; 0 … largest of those   k mod (largest + 1)
//               types that don't reach 7
//   pred        the top bit                                   k mod 2
//   complex     real from output 2i, imaginary from 2i + 1    (k, 0), as of its float type
//
// So floats are uniform in [-1, 1). Integers stay small because they may be indices: most sizes exceed 7, and
// where they don't, gather, dynamic-slice and dynamic-update-slice clamp, and scatter leaves out what lies
// outside.
#pragma once

#include <cstdint>

#include "array/array.h"

namespace hlosim {

enum class ArgumentKind : uint8_t { kRandom, kZeros, kIota };

/// Requires (as all three): `shape` is an array of known size. Dynamic dimensions have their bounds.
Array random_array(ShapeRef shape, uint64_t seed, uint64_t stream, MemoryPool& pool);
/// All bits 0, which is 2^-127 in f8e8m0fnu.
Array zero_array(ShapeRef shape, MemoryPool& pool);
/// k is the row-major index.
Array iota_array(ShapeRef shape, MemoryPool& pool);

/// One of the three.
Array argument_array(ArgumentKind kind, ShapeRef shape, uint64_t seed, uint64_t stream, MemoryPool& pool);

}  // namespace hlosim
