#include "prefetch/prefetch_picker.h"

#include <algorithm>
#include <cmath>

namespace hlosim {

IntervalPicker::IntervalPicker(const std::vector<double>& passed, const Copy& copy, const XlaKnobs& knobs)
    : passed_(passed), use_(copy.use) {
  const double shortest = knobs.min_overlap_to_async_copy_ratio * copy.time - copy.saved;
  last_ = use_ - 1;
  while (last_ >= copy.least && elapsed(last_) < shortest) --last_;
  first_ = use_;
  while (first_ > copy.least && elapsed(first_ - 1) <= copy.longest) --first_;
  if (first_ > last_) return;
  start_ = copy.preferred >= 0 ? std::clamp(copy.preferred, first_, last_)
                               : nearest(knobs.preferred_overlap_to_async_copy_ratio * copy.time);
}

int32_t IntervalPicker::next() {
  if (first_ > last_ || tried_ >= kMostTries) return -1;
  while (true) {
    const int32_t k = tried_turns_++;
    if (k == 0) return ++tried_, start_;
    const int32_t later = start_ + (k + 1) / 2, earlier = start_ - k / 2 * stride();
    if (k % 2 == 1 && later <= last_) return ++tried_, later;
    if (k % 2 == 0 && earlier >= first_) return ++tried_, earlier;
    if (start_ + (k + 1) / 2 > last_ && start_ - (k / 2 + 1) * stride() < first_) return -1;
  }
}

int32_t IntervalPicker::nearest(double wanted) const {
  int32_t best = last_;
  for (int32_t start = last_; start >= first_; --start)
    if (std::abs(elapsed(start) - wanted) < std::abs(elapsed(best) - wanted)) best = start;
  return best;
}

int32_t IntervalPicker::stride() const { return std::max<int32_t>((start_ - first_) / (kMostTries / 2), 1); }

}  // namespace hlosim
