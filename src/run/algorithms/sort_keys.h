// The order of elements by an order-preserving integer key.
//
//   std::vector<uint32_t> order(static_cast<size_t>(n));
//   sorted_order({.type = ElementType::kF32}, elements, n, order.data());
//   elements + 4 * order[0]                        // the smallest
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/element_type.h"

namespace hlosim {

/// How elements compare. `total`: floats by sign and magnitude of their bits (-NaN < -inf < … < -0 < +0 < … <
/// NaN); otherwise -0 equals +0, and NaNs, which compare with nothing, come where the total order puts them.
struct KeyOrder {
  ElementType type{};
  bool total = false;
  bool descending = false;
};

/// Types that have an order: integers, pred, floats.
bool has_key_order(ElementType type);

/// permutation[i] = number of the element that comes i-th among the n dense `elements`; equal ones in the
/// order in which they lie. Requires: n < 2^32, has_key_order(order.type).
void sorted_order(const KeyOrder& order, const std::byte* elements, int64_t n, uint32_t* permutation);

/// The first `k` of that, without ordering the rest. Requires: 0 <= k <= n.
void first_in_order(const KeyOrder& order, const std::byte* elements, int64_t n, int64_t k,
                    uint32_t* permutation);

}  // namespace hlosim
