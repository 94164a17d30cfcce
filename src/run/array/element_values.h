// Elements as numbers of the host.
//
//   std::vector<double> numbers(static_cast<size_t>(array.count()));
//   decode_floats(array.type(), array.bytes(), 0, array.count(), numbers.data());       // bf16, f8, f64, …
#pragma once

#include <cstdint>

#include "array/array.h"

namespace hlosim {

/// How finely and how far a float type counts.
struct FloatLimits {
  int mantissa_bits = 0;     // stored ones
  int largest_exponent = 0;  // of the largest finite value: 127 in f32
};
FloatLimits float_limits(ElementType type);

/// Numbers in elements `begin` … `begin + count - 1`, for types other than integers and pred. Of a complex
/// element two: real and imaginary part.
void decode_floats(ElementType type, const std::byte* data, int64_t begin, int64_t count, double* out);

/// The same for integers and pred; u64 as its 64 bits.
void decode_integers(ElementType type, const std::byte* data, int64_t begin, int64_t count, int64_t* out);

/// Bits of `value`, a number that `type` (a float) represents exactly.
uint64_t exact_bits(ElementType type, double value);

/// Position of a float with these bits among all values of its type, 0 for zeros: neighbours differ by 1.
/// Means nothing for NaN.
int64_t ordinal(ElementType type, uint64_t bits);

}  // namespace hlosim
