// Windows that slide over an array: what they are allowed to be, how many places they have, and how
// much of them lies on elements rather than on padding.
//
//   WindowDimension three{.size = 3, .stride = 2};
//   window_places(9, three)              // 4: at 0, 2, 4 and 6
//   tap_places(9, three, 1)              // its middle lies on elements 1, 3, 5 and 7
#pragma once

#include <cstdint>
#include <span>

#include "base/rounding.h"
#include "hlo/op_def.h"

namespace hlosim {

/// One window dimension per dimension of the base, sizes, strides and dilations positive.
bool require_window(OpContext& op, int constraint, std::span<const WindowDimension> window, int64_t rank);

/// Number of places the window takes along a dimension of size `base`: with D(n, d) = 0 if n = 0, else
/// (n-1)·d + 1, floor((D(base, base_dilation) + padding - D(size, window_dilation)) / stride) + 1, or 0
/// when the window does not fit. `?` stays `?`. Requires: require_window().
int64_t window_places(int64_t base, const WindowDimension& window);

/// Where one window position lies on elements along a dimension: at places first, first + step, …, the
/// elements element, element + element_step, ….
struct TapPlaces {
  int64_t first = 0, step = 1, count = 0;
  int64_t element = 0, element_step = 0;
};

/// Requires: require_window(), 0 <= tap < window.size, base >= 0.
TapPlaces tap_places(int64_t base, const WindowDimension& window, int64_t tap);

/// How a window meets the elements of one dimension; padding and dilation holes are no elements.
struct WindowReach {
  int64_t places = 0;  // that see at least one element
  int64_t taps = 0;    // window positions that see an element at some place
  int64_t hits = 0;    // (place, window position) pairs that see an element

  /// Window positions that see an element, per place on average, rounded up.
  int64_t depth() const { return places == 0 ? 0 : ceil_div(hits, places); }
  /// No window position serves two places: each place has its own part of the window, as when a
  /// batch dimension is written as a strided window dimension.
  bool is_batch() const { return places > 1 && hits == taps; }
};

/// Exact, except that windows beyond 2^22 positions count as if nothing were padding, and that the
/// `places` of base-dilated windows with more than 2^16 hits are those between the first and last hit.
/// Requires: require_window(), base >= 0.
WindowReach window_reach(int64_t base, const WindowDimension& window);

}  // namespace hlosim
