// How far apart two arrays are.
//
//   const Comparison result = compare(actual, expected, default_tolerance(actual.type()));
//   if (!result.within()) std::cerr << result.outside << " elements, the first at " << result.first_outside;
#pragma once

#include <cstdint>

#include "array/array.h"

namespace hlosim {

/// An element is within when it is off by at most `abs`, or by at most `rel` times the expected magnitude.
struct Tolerance {
  double abs = 0;
  double rel = 0;
};

/// What results of one operation may differ by: f64, c128 1e-9; f32, c64 2e-5; f16 4e-3; bf16 2e-2; smaller
/// floats two units in the last place, 2^(1 - mantissa bits), of f8e8m0fnu 1; integers and pred nothing.
/// Absolute and relative alike.
Tolerance default_tolerance(ElementType type);

/// Elements are equal when they are the same number (-0 and 0 are) or both NaN; of complex ones, both parts.
/// NaN and infinities that stand on one side only, or infinities of different signs, are misplaced: always
/// outside, and in none of the errors.
struct Comparison {
  bool sizes_differ = false;  // runtime sizes; nothing else is known then
  int64_t count = 0;          // elements compared
  int64_t different = 0;      // not equal
  int64_t outside = 0;        // of the tolerance
  int64_t misplaced = 0;      // elements with NaN or infinity on one side
  double max_abs = 0;         // |actual - expected|; of complex numbers the modulus
  double max_rel = 0;         // the same / |expected|, over elements expected not to be 0
  uint64_t max_ulps = 0;      // values of the type between the two, the nearer one counted; parts of complex
  int64_t first_different = -1;  // row-major index within the runtime sizes; -1: none
  int64_t first_outside = -1;

  bool within() const { return !sizes_differ && outside == 0; }
};

/// Requires: both have one element type and the same bounds.
Comparison compare(const Array& actual, const Array& expected, Tolerance tolerance);

}  // namespace hlosim
