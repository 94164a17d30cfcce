// How full each memory space is at every step.
//
//   for (const SpaceUse& use : space_use(*analysis))
//     std::cout << "S(" << use.space << "): " << use.peak << " bytes at step " << use.peak_step;
#pragma once

#include <cstdint>
#include <vector>

#include "buffers/buffer_analysis.h"

namespace hlosim {

struct SpaceUse {
  int64_t space = 0;      // n of S(n)
  int64_t allocated = 0;  // bytes of its allocations; those of thread-local computations left out
  int64_t dense = 0,
          padded = 0;     // of the arrays in it at the peak: elements × width, and as they lie in tiles
  int64_t peak = 0;       // most bytes needed at one step
  int32_t peak_step = 0;  // the first with the peak
  std::vector<int64_t> at_step;  // bytes needed; what is written over what it is made from counts once
};

/// By number of the space.
std::vector<SpaceUse> space_use(const BufferAnalysis& analysis);

/// Values that are needed at `step`, one per buffer, the largest first.
std::vector<ValueIndex> live_at(const BufferAnalysis& analysis, int32_t step);

}  // namespace hlosim
