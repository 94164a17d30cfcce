// Where XLA's assigner tries to begin a prefetch.
//
//   IntervalPicker picker(passed, copy, knobs);
//   for (int32_t start = picker.next(); start >= 0; start = picker.next())
//     if (fits(start)) return start;
#pragma once

#include <cstdint>
#include <vector>

#include "prefetch/prefetch_knobs.h"

namespace hlosim {

/// Start gaps for a prefetch in the order in which they are tried.
class IntervalPicker {
 public:
  struct Copy {
    int32_t use = 0, least = 0;  // gaps: of the use; the first one that may be a start
    double time = 0, saved = 0;  // of the copy; that the use saves with it
    double longest = 0;          // time from start to use, at most
    int32_t preferred = -1;      // gap to try first; -1: by the knobs
  };
  /// `passed`: time before each gap; outlives this.
  IntervalPicker(const std::vector<double>& passed, const Copy& copy, const XlaKnobs& knobs);

  /// -1: there are no more.
  int32_t next();

 private:
  static constexpr int32_t kMostTries = 100;
  double elapsed(int32_t start) const {
    return passed_[static_cast<size_t>(use_)] - passed_[static_cast<size_t>(start)];
  }
  int32_t nearest(double wanted) const;
  /// Earlier ones are skipped where there are many.
  int32_t stride() const;

  const std::vector<double>& passed_;
  int32_t use_, first_ = 0, last_ = -1, start_ = 0, tried_ = 0, tried_turns_ = 0;
};

}  // namespace hlosim
