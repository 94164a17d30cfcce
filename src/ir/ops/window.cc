#include "ops/window.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rounding.h"
#include "base/saturating.h"
#include "ops/infer.h"

namespace hlosim {
namespace {

__extension__ typedef __int128 Int128;  // sums of products of arbitrary 64-bit attributes

constexpr int64_t kMostTaps = int64_t{1} << 22;
constexpr int64_t kMostMarkedHits = int64_t{1} << 16;

Int128 dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (Int128{size} - 1) * dilation + 1; }

Int128 floor_divide(Int128 a, Int128 b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

/// x with a·x ≡ 1 (mod m). Requires: gcd(a, m) = 1, m > 1.
int64_t modular_inverse(int64_t a, int64_t m) {
  Int128 old_r = a % m, r = m, old_s = 1, s = 0;
  while (r != 0) {
    const Int128 q = old_r / r;
    const Int128 next_r = old_r - q * r, next_s = old_s - q * s;
    old_r = r, r = next_r, old_s = s, s = next_s;
  }
  return static_cast<int64_t>((old_s % m + m) % m);
}

/// Places first, first+step, …, `count` of them.
struct Places {
  int64_t first = 0, step = 1, count = 0;
};

/// The places at which one window position lies on an element.
class TapSolver {
 public:
  TapSolver(int64_t base, const WindowDimension& window)
      : window_(window),
        last_((Int128{base} - 1) * window.base_dilation),
        places_(window_places(base, window)),
        divisor_(std::gcd(window.stride, window.base_dilation)),
        period_(window.base_dilation / divisor_),
        inverse_(period_ > 1 ? modular_inverse(window.stride / divisor_ % period_, period_) : 0) {}

  int64_t all_places() const { return places_; }

  Places solve(int64_t tap) const {
    // Place o sees the element under base coordinate o·stride + at, if it is one.
    const Int128 at = Int128{tap} * window_.window_dilation - window_.padding_low;
    const Int128 stride = window_.stride;
    Int128 first = std::max<Int128>(0, -floor_divide(at, stride));
    const Int128 last = std::min<Int128>(places_ - Int128{1}, floor_divide(last_ - at, stride));
    if (last < first) return {};
    if (period_ > 1) {
      if (at % divisor_ != 0) return {};
      const Int128 residue = ((-(at / divisor_) % period_ + period_) % period_) * inverse_ % period_;
      first += (residue - first % period_ + period_) % period_;
      if (last < first) return {};
    } else if (divisor_ > 1 && at % divisor_ != 0) {
      return {};
    }
    return {static_cast<int64_t>(first), period_, static_cast<int64_t>((last - first) / period_ + 1)};
  }

 private:
  WindowDimension window_;
  Int128 last_;  // base coordinate of the last element
  int64_t places_;
  int64_t divisor_, period_, inverse_;
};

/// Places that see some element. Holes of the base leave places empty between others, so these are
/// marked one by one as long as that is cheap.
int64_t count_places(const TapSolver& solver, int64_t taps, int64_t hits) {
  Int128 first = std::numeric_limits<int64_t>::max(), last = -1;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Places seen = solver.solve(tap);
    if (seen.count == 0) continue;
    first = std::min<Int128>(first, seen.first);
    last = std::max<Int128>(last, seen.first + Int128{seen.count - 1} * seen.step);
  }
  if (last < first) return 0;
  const Int128 span = last - first + 1;
  if (hits > kMostMarkedHits || span > 64 * kMostMarkedHits)
    return static_cast<int64_t>(std::min<Int128>(span, hits));
  std::vector<bool> seen_places(static_cast<size_t>(span));
  int64_t count = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Places seen = solver.solve(tap);
    for (int64_t i = 0; i < seen.count; ++i) {
      auto place = seen_places[static_cast<size_t>(seen.first + i * seen.step - first)];
      count += place ? 0 : 1;
      place = true;
    }
  }
  return count;
}

}  // namespace

bool require_window(OpContext& op, int constraint, std::span<const WindowDimension> window, int64_t rank) {
  if (static_cast<int64_t>(window.size()) != rank) {
    op.error(constraint, "window has {} dimensions, expected {}", window.size(), rank);
    return false;
  }
  for (size_t i = 0; i < window.size(); ++i) {
    const std::pair<std::string_view, int64_t> values[] = {{"size", window[i].size},
                                                           {"stride", window[i].stride},
                                                           {"lhs_dilate", window[i].base_dilation},
                                                           {"rhs_dilate", window[i].window_dilation}};
    for (const auto& [name, value] : values) {
      if (value > 0) continue;
      op.error(constraint, "window {} is {} in dimension {}, expected a positive number", name, value, i);
      return false;
    }
  }
  return true;
}

int64_t window_places(int64_t base, const WindowDimension& window) {
  if (base == Shape::kUnbounded) return base;
  const Int128 room = dilated(base, window.base_dilation) + window.padding_low + window.padding_high;
  const Int128 extent = dilated(window.size, window.window_dilation);
  if (room <= 0 || extent > room) return 0;
  const Int128 places = (room - extent) / window.stride + 1;
  return static_cast<int64_t>(std::min<Int128>(places, std::numeric_limits<int64_t>::max()));
}

WindowReach window_reach(int64_t base, const WindowDimension& window) {
  const int64_t places = window_places(base, window);
  if (base == 0 || places == 0) return {};
  const bool plain = window.padding_low <= 0 && window.padding_high <= 0 && window.base_dilation == 1;
  if (plain || window.size > kMostTaps)
    return {places, window.size, saturating_multiply(places, window.size)};
  const TapSolver solver(base, window);
  WindowReach reach;
  for (int64_t tap = 0; tap < window.size; ++tap) {
    const Places seen = solver.solve(tap);
    reach.hits = saturating_add(reach.hits, seen.count);
    reach.taps += seen.count > 0;
  }
  // Without holes a place in the middle of the padding is the only kind that sees nothing.
  const bool dense = window.base_dilation == 1 && window.window_dilation == 1;
  if (dense && window.padding_low < window.size && window.padding_high < window.size)
    reach.places = places;
  else
    reach.places = count_places(solver, window.size, reach.hits);
  return reach;
}

TapPlaces tap_places(int64_t base, const WindowDimension& window, int64_t tap) {
  if (base == 0 || window_places(base, window) == 0) return {};
  const Places places = TapSolver(base, window).solve(tap);
  if (places.count == 0) return {};
  const auto element = [&](Int128 place) {
    return static_cast<int64_t>(
        (place * window.stride + Int128{tap} * window.window_dilation - window.padding_low) /
        window.base_dilation);
  };
  const int64_t first = element(places.first);
  const int64_t next = places.count > 1 ? element(Int128{places.first} + places.step) : first;
  return {places.first, places.step, places.count, first, next - first};
}

}  // namespace hlosim
