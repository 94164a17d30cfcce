// Places on the chip, given away one after the other; all of them may move while none is in use yet.
//
//   ChipPlacement chip(problem);
//   if (chip.fits({0, 3}, 4096)) chip.take({{0, 3}}, 4096);
//   chip.offsets()[0]                              // where it lies
#pragma once

#include <cstdint>
#include <vector>

#include "buffers/taken_space.h"
#include "prefetch/prefetch_problem.h"

namespace hlosim {

class ChipPlacement {
 public:
  /// What the problem says is taken lies at the bottom.
  explicit ChipPlacement(const PrefetchProblem& problem);

  /// There is a gap that is large enough over all steps of `time`.
  bool fits(TimeSpan time, int64_t size);
  /// Takes the smallest such gap for each of `times`. False: there is none for some, and nothing is taken.
  bool take(const std::vector<TimeSpan>& times, int64_t size);
  /// Gives everything a new place: the largest first, or if that needs too much what stays longest first.
  /// False: no order fits, and nothing has moved.
  bool repack();

  /// In the order in which they were taken.
  std::vector<int64_t> offsets() const;

 private:
  struct Place {
    TimeSpan time;
    int64_t size = 0, offset = 0;
  };
  TakenSpace empty_chip() const;
  int64_t best_gap(TakenSpace& space, TimeSpan time, int64_t size) const;

  const PrefetchProblem& problem_;
  TakenSpace space_;
  std::vector<Place> places_;
};

}  // namespace hlosim
