#include "partition/window_reach.h"

#include "base/rounding.h"
#include "loop_factors/window_form.h"

namespace hlosim {

std::optional<Reach> reach_of(const DeviceAxes& axes, const AxisList& cut, const WindowDimension& window,
                              int64_t places) {
  const int64_t part = shard_size(axes, cut, places), tiles = axes.length(cut), d = window.base_dilation;
  const int64_t step = part * window.stride;
  if (part < 1 || step % d != 0) return std::nullopt;
  const int64_t span = (part - 1) * window.stride + (window.size - 1) * window.window_dilation + 1;
  Reach reach;
  reach.window = window;
  const int64_t first = -window.padding_low;  // in dilated elements
  const int64_t element = first >= 0 ? ceil_div(first, d) : -(-first / d);
  const int64_t last = first + span - 1, last_element = last >= 0 ? last / d : -ceil_div(-last, d);
  reach.size = last_element - element + 1;
  if (reach.size < 1) return std::nullopt;
  reach.window.padding_low = element * d - first;
  reach.window.padding_high = last - last_element * d;
  for (int64_t t = 0; t < tiles; ++t) reach.starts.push_back(element + t * (step / d));
  return reach;
}

bool fetch(Rules& rules, SpmdValue& base, int64_t dimension, const AxisList& cut, int64_t places,
           WindowDimension& window, InstructionId fill) {
  const auto reach = reach_of(rules.axes, cut, window, places);
  if (!reach) return false;
  const int64_t size = base.shape->dim(dimension);
  base.id = rules.reshard.window(base, dimension, cut, reach->starts, reach->size);
  base.id = rules.reshard.masked(base.id, dimension, rules.emit.choose(cut, reach->starts), size, fill);
  window = reach->window;
  return true;
}

bool slides(const WindowDimension& window, int64_t base, int64_t places) {
  return window_form(base, window, places) != WindowForm::kNothing;
}

}  // namespace hlosim
