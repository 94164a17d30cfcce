#include "sim/timeline.h"

#include <algorithm>

#include "base/check.h"

namespace hlosim {

std::string_view to_text(Lane lane) {
  constexpr std::string_view kNames[] = {"TensorCore",          "DMA in", "DMA out", "host", "ICI",
                                         "ICI, second permute", "async"};
  return kNames[static_cast<size_t>(lane)];
}

void Timeline::add(const Span& span) {
  const auto lane = static_cast<size_t>(span.lane);
  HLOSIM_CHECK(span.start >= last_end_[lane] && span.end >= span.start,
               "{} to {} ps in lane {}, busy until {} ps", span.start.count(), span.end.count(),
               to_text(span.lane), last_end_[lane].count());
  last_end_[lane] = span.end;
  if (!span.waiting) busy_[lane] += span.end - span.start;
  spans_.push_back(span);
}

Picoseconds Timeline::makespan() const {
  return *std::max_element(std::begin(last_end_), std::end(last_end_));
}

Picoseconds Timeline::busy(Lane lane) const { return busy_[static_cast<size_t>(lane)]; }

}  // namespace hlosim
