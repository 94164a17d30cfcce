#include "model/calibrated.h"

namespace hlosim {
namespace {

// 15 products with producers or epilogues of a v5p training step. 0.45 was chosen between two values of the
// grid that was searched, with an eye on the products of a v6e training step as a whole.
constexpr double kExposed = 0.45, kStalls = 0.03;
// Seven ends of all-gathers of a v5p training step: 1.40 to 2.02 us.
constexpr Picoseconds kDone{1'500'000};

constexpr CalibratedNumbers kCommon{kExposed, kStalls, {}, {}, kDone};
// Synchronous all-gathers, reduce-scatters and an all-to-all of 6 to 197 MB of a v5p training step on 2x2x1:
// what one link has, 100 GB/s raw.
constexpr CalibratedNumbers kV5p{kExposed, kStalls, BytesPerSecond(100e9), {}, kDone};
// Two all-gathers and two all-to-alls between the cores of a chip in a v7x serving step.
constexpr CalibratedNumbers kV7x{kExposed, kStalls, {}, Picoseconds(1'200'000), kDone};
// Every cost is 1, and what is hidden is hidden.
constexpr CalibratedNumbers kUnit{0, 0, {}, {}, Picoseconds(1'000)};

}  // namespace

const CalibratedNumbers& calibrated(const DeviceConfig& device) {
  if (device.generation == "v5p") return kV5p;
  if (device.generation == "v7x") return kV7x;
  if (device.generation == "unit") return kUnit;
  return kCommon;
}

}  // namespace hlosim
