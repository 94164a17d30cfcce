// Which allocations are in use during a live range: an index over all of them, one bit for each.
//
//   BusyAllocations busy(steps);
//   busy.add(7, {0, 40});                          // a value of allocation 7
//   const LiveRange wanted[] = {{10, 12}};
//   busy.find_free(wanted, 9, [&](int32_t allocation) { return fits(allocation); })
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "memory/live_range.h"

namespace hlosim {

/// A binary tree over the time between steps, with several steps at each leaf. Each node has two bits of
/// every allocation: in use at some time below it; in use by one value for all of it. Live ranges that touch
/// don't meet. What is in use for a part of a leaf isn't known: allocations that are in use may be offered,
/// free ones are never left out.
class BusyAllocations {
 public:
  explicit BusyAllocations(int32_t steps);

  /// Requires: known ranges of steps.
  void add(int32_t allocation, const LiveRange& range);
  void add_always(int32_t allocation) { add(allocation, {0, end_, kNoPlace}); }
  /// Calls `take` for allocations below `count` that may be free during all of `ranges`, from the last to the
  /// first, until it returns true.
  bool find_free(std::span<const LiveRange> ranges, int32_t count, const std::function<bool(int32_t)>& take);

 private:
  using Bits = std::vector<uint64_t>;  // by allocation; as far as there are ones
  struct Node {
    Bits some, all;
  };
  struct Span {
    int32_t begin = 0, end = 0;  // [begin, end): from each step to the next
  };

  void add(size_t node, Span at, Span used, int32_t allocation);
  void collect(size_t node, Span at, Span wanted);
  void collect_around(int32_t step);

  int32_t end_ = 0;
  int32_t leaf_ = 1;         // steps
  std::vector<Node> nodes_;  // the children of n are 2n + 1 and 2n + 2
  std::vector<const Bits*> found_;
};

}  // namespace hlosim
