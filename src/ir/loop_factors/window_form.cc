#include "loop_factors/window_form.h"

#include <algorithm>

namespace hlosim {
namespace {

bool has_no_padding(const WindowDimension& w) { return w.padding_low == 0 && w.padding_high == 0; }

/// Padding and window are such that each element, or each hole between elements, brings the same number of
/// places.
bool slides(int64_t base, const WindowDimension& w, int64_t places) {
  const int64_t reach = (w.size - 1) * w.window_dilation + 1, room = w.padding_low + w.padding_high - reach;
  if (w.base_dilation == 1) return base == places * w.stride && room < 0 && room >= -w.stride;
  return w.stride == 1 && places == base * w.base_dilation && room == w.base_dilation - 2;
}

}  // namespace

WindowForm window_form(int64_t base, const WindowDimension& w, int64_t places) {
  if (base < 1 || places < 1) return WindowForm::kOther;
  const bool dense = w.base_dilation == 1 && w.window_dilation == 1;
  if (w.size == 1 && w.stride == 1 && dense && has_no_padding(w)) return WindowForm::kNothing;
  if (dense && has_no_padding(w) && w.size == base && places == 1 && w.stride == 1) return WindowForm::kSum;
  if (dense && base == 1 && places == w.size && w.stride == 1 && w.padding_low == w.size - 1 &&
      w.padding_high == w.size - 1)
    return WindowForm::kSpread;
  if (w.size == base && places == base && w.window_dilation == 1 && has_no_padding(w) &&
      w.base_dilation == base && w.stride == std::max<int64_t>(1, base - 1))
    return WindowForm::kBatch;
  return slides(base, w, places) ? WindowForm::kSlides : WindowForm::kOther;
}

WindowDimension resized_window(WindowForm form, WindowDimension window, int64_t size) {
  if (!window_follows(form)) return window;
  window.size = size;
  if (form == WindowForm::kSpread) window.padding_low = window.padding_high = size - 1;
  if (form == WindowForm::kBatch) {
    window.base_dilation = size;
    window.stride = std::max<int64_t>(1, size - 1);
  }
  return window;
}

}  // namespace hlosim
