// Whole numbers of pieces: how many of `b` cover `a`, and how long they are together.
//
//   ceil_div(7, 3) == 3
//   round_up(7, 3) == 9
#pragma once

#include <cstdint>
#include <type_traits>

namespace hlosim {

/// Requires: b > 0. Also of a negative `a`: the least whole number that isn't below a / b.
template <class Integer>
constexpr Integer ceil_div(Integer a, std::type_identity_t<Integer> b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

/// The least multiple of `b` that isn't below `a`. Requires: b > 0, and that it fits.
template <class Integer>
constexpr Integer round_up(Integer a, std::type_identity_t<Integer> b) {
  return ceil_div(a, b) * b;
}

/// For estimates: beyond 2^53 the nearest.
constexpr double as_double(int64_t value) { return static_cast<double>(value); }

}  // namespace hlosim
