#include "evaluate/window_walk.h"

#include <algorithm>

#include "base/rounding.h"
#include "base/saturating.h"
#include "ops/infer.h"

namespace hlosim {
namespace {

bool is_untouched(const WindowDimension& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 && w.padding_high == 0 && w.base_dilation == 1;
}

}  // namespace

WindowWalk::WindowWalk(std::span<const int64_t> base, std::span<const WindowDimension> window) {
  int64_t stride = 1;
  std::vector<Dimension> dimensions;  // most minor first
  for (size_t i = base.size(); i-- > 0;) {
    const bool untouched = is_untouched(window[i]);
    if (untouched && !dimensions.empty() && is_untouched(dimensions.back().window)) {
      dimensions.back().base *= base[i];
      dimensions.back().places *= base[i];
    } else if (!untouched || base[i] != 1) {
      dimensions.push_back({base[i], window_places(base[i], window[i]), stride, window[i]});
    }
    stride *= base[i];
  }
  if (dimensions.empty()) dimensions.push_back({1, 1, 1, {}});
  const Dimension last = dimensions.front();
  row_ = last.places;
  cuts_ = std::max<int64_t>(1, ceil_div(row_, kPiece));
  for (int64_t tap = 0; tap < last.window.size; ++tap) {
    TapPlaces places = tap_places(last.base, last.window, tap);
    if (places.count == 0) continue;
    places.element *= last.stride;
    places.element_step *= last.stride;
    row_taps_.push_back(places);
    piece_work_ += std::min(places.count, kPiece);
  }
  outer_.assign(dimensions.rbegin(), dimensions.rend() - 1);
  for (const Dimension& dimension : outer_) {
    rows_ *= dimension.places;
    piece_work_ =
        saturating_multiply(piece_work_, std::clamp<int64_t>(dimension.base, 1, dimension.window.size));
  }
  if (row_ == 0) rows_ = 0;
}

bool WindowWalk::find_tap(size_t d, OuterState& state, int64_t from) const {
  const WindowDimension& w = outer_[d].window;
  const int64_t last = (outer_[d].base - 1) * w.base_dilation;
  // Positions before the first element are passed at once.
  const int64_t origin = state.place * w.stride - w.padding_low;
  if (origin < 0) from = std::max(from, ceil_div(-origin, w.window_dilation));
  for (int64_t tap = from; tap < w.size; ++tap) {
    const int64_t at = origin + tap * w.window_dilation;
    if (at > last) return false;
    if (at % w.base_dilation != 0) continue;
    state.tap = tap;
    state.element = at / w.base_dilation;
    return true;
  }
  return false;
}

WindowWalk::OuterState WindowWalk::start_outer(size_t d, int64_t place) const {
  OuterState state{place, -1, 0};
  find_tap(d, state, 0);
  return state;
}

bool WindowWalk::next_tap(size_t d, OuterState& state) const { return find_tap(d, state, state.tap + 1); }

bool WindowWalk::clip(const TapPlaces& tap, int64_t begin, int64_t end, int64_t offset, RowTap& seen) {
  const int64_t skipped = tap.first < begin ? ceil_div(begin - tap.first, tap.step) : 0;
  const int64_t until = tap.first < end ? std::min(tap.count, (end - 1 - tap.first) / tap.step + 1) : 0;
  if (skipped >= until) return false;
  seen = {tap.first + skipped * tap.step - begin, tap.step, until - skipped,
          offset + tap.element + skipped * tap.element_step, tap.element_step};
  return true;
}

}  // namespace hlosim
