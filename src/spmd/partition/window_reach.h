// Windows that slide over cut dimensions: what each tile of their places sees of the base.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "partition/rule_call.h"

namespace hlosim {

/// One dimension that a window slides over.
struct Reach {
  std::vector<int64_t> starts;  // by tile, in elements of the base
  int64_t size = 0;
  WindowDimension window;  // over these
};

/// Nullopt: tiles see the base in different ways.
std::optional<Reach> reach_of(const DeviceAxes& axes, const AxisList& cut, const WindowDimension& window,
                              int64_t places);

/// Fetches what tiles of `places` places see of one dimension of the base, `fill` beyond the array, and makes
/// `window` one over that. False: as reach_of().
bool fetch(Rules& rules, SpmdValue& base, int64_t dimension, const AxisList& cut, int64_t places,
           WindowDimension& window, InstructionId fill);

/// Is there more to the window than one element per place?
bool slides(const WindowDimension& window, int64_t base, int64_t places);

}  // namespace hlosim
