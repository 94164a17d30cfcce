// Sums and products of sizes and times that stop at the largest or smallest int64 instead of wrapping.
//
//   saturating_add(INT64_MAX, 1) == INT64_MAX
//   saturating_multiply(INT64_MAX, -2) == INT64_MIN
#pragma once

#include <cstdint>
#include <limits>

#include "base/units.h"

namespace hlosim {

constexpr int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

constexpr int64_t saturating_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

constexpr int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

/// a + b, at most kForever. Requires: none is negative.
constexpr Picoseconds later(Picoseconds a, Picoseconds b) {
  return Picoseconds(saturating_add(a.count(), b.count()));
}

}  // namespace hlosim
