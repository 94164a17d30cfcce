// Sums and products of sizes that stop at the largest int64 instead of wrapping.
#pragma once

#include <cstdint>
#include <limits>

namespace hlosim {

/// Requires: a, b >= 0.
constexpr int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
constexpr int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace hlosim
