// The values that lie in one allocation, by the time for which they need it.
//
//   Occupants there;
//   there.add(interference, a);
//   if (!there.interfere(interference, b)) there.add(interference, b);      // b may lie there, too
#pragma once

#include <set>
#include <tuple>

#include "memory/interference.h"

namespace hlosim {

class Occupants {
 public:
  /// Requires: nothing that is here interferes with the value, but for members of its own buffer.
  void add(const Interference& interference, ValueIndex value) {
    const LiveRange& range = interference.range(value);
    any_unknown_ |= !range.known();
    if (range.end - range.start > longest_end_ - longest_start_)
      longest_start_ = range.start, longest_end_ = range.end;
    by_time_.emplace(range.start, range.end, value);
  }

  /// Does `value` interfere with one of them? O(log n + values at its ends): values that share memory touch
  /// at most, so that of two the one that starts later doesn't end earlier.
  bool interfere(const Interference& interference, ValueIndex value) const {
    const LiveRange& range = interference.range(value);
    if (by_time_.empty()) return false;
    if (any_unknown_ || !range.known()) return true;
    if (longest_start_ < range.end && range.start < longest_end_) return true;
    for (auto at = by_time_.lower_bound({range.end + 1, 0, 0}); at != by_time_.begin();) {
      const auto& [start, end, other] = *--at;
      if (end < range.start) return false;
      if (interference.interfere(other, value)) return true;
    }
    return false;
  }

 private:
  std::set<std::tuple<int32_t, int32_t, ValueIndex>> by_time_;  // first step, last step
  int32_t longest_start_ = 0, longest_end_ = 0;                 // of the range that most others meet
  bool any_unknown_ = false;
};

}  // namespace hlosim
