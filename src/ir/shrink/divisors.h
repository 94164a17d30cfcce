// By how much each class of dimensions shrinks.
//
//   const Divisors divisors = largest_divisors(classes, {.scale = 64, .min_size = 8}, wanted);
//   divisors[classes.of(parameter, 0, 1)]          // 16: that dimension of 128 becomes one of 8
#pragma once

#include <map>
#include <vector>

#include "shrink/dimension_classes.h"

namespace hlosim {

using Divisors = std::vector<int64_t>;  // by class

struct DivisorLimits {
  int64_t scale = 1;     // each divisor divides it
  int64_t min_size = 1;  // no dimension gets smaller, but those that are
  /// Instead of both, for these classes.
  std::map<DimensionClass, int64_t> wanted;
  /// And these don't get larger divisors than this.
  std::map<DimensionClass, int64_t> at_most;
};

/// Divisors as large as the limits allow, lowered until merged dimensions shrink by what their parts do.
Divisors largest_divisors(const DimensionClasses& classes, const DivisorLimits& limits);

/// The smallest prime that divides `number`; requires: number > 1.
int64_t smallest_prime(int64_t number);

}  // namespace hlosim
