// Windows of many positions, slid along one dimension: a few operations per element, however long the window.
//
//   if (const std::optional<SlidingFold> fold = SlidingFold::make(base, window))
//     fold->run(add, device, in, init, out);       // a few operations per element
#pragma once

#include <optional>
#include <span>

#include "evaluate/called_computation.h"
#include "hlo/op_def.h"

namespace hlosim {

/// A window that touches one dimension only, dense and with stride 1, over an array [outer, size, inner].
struct SlidingFold {
  int64_t outer = 1, size = 1, inner = 1;
  int64_t places = 1, window = 1, before = 0;  // the first place's window starts `before` elements ahead

  /// Nullopt for other windows, and for those so short that sliding doesn't pay.
  static std::optional<SlidingFold> make(std::span<const int64_t> base,
                                         std::span<const WindowDimension> window);

  /// out[o, p, i] = init op the elements of place p's window. Requires: `op` combines two values of one type
  /// and may be associated freely.
  void run(const AppliedComputation& op, DeviceState& device, const std::byte* in, const std::byte* init,
           std::byte* out) const;
};

}  // namespace hlosim
