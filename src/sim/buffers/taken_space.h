// Which bytes of a heap are taken when, for finding free ones over a span of time.
//
//   TakenSpace heap(10);
//   heap.take({0, 4}, {0, 64});                    // bytes 0 to 63 at moments 0 to 4
//   const TimeSpan late[] = {{3, 6}};
//   heap.best_gap(late, 16)                        // 64
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hlosim {

/// From one place up to another one, exclusive.
struct SpaceRange {
  int64_t begin = 0, end = 0;
};

/// Places that are taken: ranges in ascending order, neither empty nor touching.
using SpaceSet = std::vector<SpaceRange>;

/// Moments from the first to the last one, both included.
struct TimeSpan {
  int32_t first = 0, last = 0;
};

/// A tree over all moments, with a bucket of them at each leaf. Each node knows what is taken at some moment
/// below it, and what was taken for all of them at once; what is taken over any span is the union of a
/// logarithmic number of those, and of what is in the buckets at its ends: single ranges while they are few,
/// a set for each moment once they are many, as where all operands of a wide concatenation end. Ranges that
/// touch are one, so that a heap with few gaps is a few ranges however much lies in it.
class TakenSpace {
 public:
  explicit TakenSpace(int32_t moments);

  /// Requires: a span within the moments, a range that isn't empty.
  void take(TimeSpan time, SpaceRange range) { take(0, whole_, time, range); }
  /// Where the smallest range begins that is free over all of `times` and not smaller than `size`, the lowest
  /// of equals; behind all that is taken if there is none. Requires: size > 0.
  int64_t best_gap(std::span<const TimeSpan> times, int64_t size);

 private:
  struct Node {
    SpaceSet some, all;  // taken at some moment; for all moments at once
  };
  struct Single {
    TimeSpan time;
    SpaceRange range;
  };
  struct Bucket {
    std::vector<Single> singles;      // what is taken for a part of its moments
    std::vector<SpaceSet> by_moment;  // the same, once they are many; else empty
  };
  struct Found {
    int32_t order;
    const SpaceSet* taken;
    auto operator<=>(const Found&) const = default;
  };

  void take(size_t node, TimeSpan at, TimeSpan time, SpaceRange range);
  static void take(Bucket& bucket, int32_t begin, Single single);
  void collect(const Bucket& bucket, int32_t begin, TimeSpan time);
  void collect(size_t node, TimeSpan at, TimeSpan time);
  void collect_singles();
  void leave_free(const SpaceSet& taken, int64_t size);

  TimeSpan whole_;
  std::vector<Node> nodes_;      // the children of n are 2n + 1 and 2n + 2
  std::vector<Bucket> buckets_;  // by leaf
  // Of the search under way.
  std::vector<Found> found_;
  SpaceSet singles_, free_, next_free_;
};

}  // namespace hlosim
