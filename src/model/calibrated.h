// Numbers of generations that were fitted to measured programs, beside those of the device files: how vector
// work gets on with products, and who can drive collectives how fast.
//
//   const CalibratedNumbers& fitted = calibrated(device);      // by device.generation
//   fitted.vector_exposed                                      // 0.45
//
// docs/accuracy.md has the data and the cross-validated errors, docs/timing_model.md the equations.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"
#include "model/device.h"

namespace hlosim {

struct CalibratedNumbers {
  /// Share of the vector work on operands and results of a product for which its bundles leave no slots.
  double vector_exposed = 0;
  /// Share of a product's time by which vector work in its loop makes it longer.
  double vector_stalls = 0;
  /// What a device sends at most while its TensorCores drive a collective; absent: all that its links take.
  std::optional<BytesPerSecond> core_bandwidth{};
  /// Fixed time of a collective within one chip, each time its devices wait for each other; absent:
  /// ici.launch.
  std::optional<Picoseconds> die_launch{};
  /// End of an asynchronous collective that is a fusion of its own, when nothing is waited for.
  Picoseconds fused_done{};
};

/// Of the device's generation; of one that nothing was measured on, what the measured ones have in common.
const CalibratedNumbers& calibrated(const DeviceConfig& device);

/// For `hlosim explain`: where these numbers come from.
inline constexpr std::string_view kCalibratedSource = "calibrated: docs/accuracy.md";

}  // namespace hlosim
