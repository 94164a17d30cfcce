// What a window does along one dimension, where that is simple enough to be done at another size.
//
//   window_form(8, {.size = 3, .padding_low = 1, .padding_high = 1}, 8)         // WindowForm::kSlides
//   resized_window(WindowForm::kSum, {.size = 8}, 4)                            // {.size = 4}
#pragma once

#include <cstdint>

#include "hlo/attr.h"

namespace hlosim {

enum class WindowForm : uint8_t {
  kNothing,  // place i sees element i
  kSum,      // the only place sees all elements
  kSpread,   // place i sees the only element through window position i
  kBatch,    // place i sees element i through window position i
  kSlides,   // places per element are the same at any size: the window stays as it is
  kOther,
};

/// `base`, `places`: sizes of the dimension that the window slides over and of what comes out.
WindowForm window_form(int64_t base, const WindowDimension& window, int64_t places);

/// The window of that form where its size is `size`; requires: not kOther.
WindowDimension resized_window(WindowForm form, WindowDimension window, int64_t size);

/// Does the window's own size follow the dimension?
inline bool window_follows(WindowForm form) {
  return form == WindowForm::kSum || form == WindowForm::kSpread || form == WindowForm::kBatch;
}

}  // namespace hlosim
