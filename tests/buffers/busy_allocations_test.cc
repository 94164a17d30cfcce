// Against a list of all that was added.
#include "buffers/busy_allocations.h"

#include <gtest/gtest.h>

#include <random>

namespace hlosim {
namespace {

constexpr int32_t kSteps = 2000, kAllocations = 150;

struct Slow {
  std::vector<std::vector<LiveRange>> used = std::vector<std::vector<LiveRange>>(kAllocations);

  void add(int32_t allocation, const LiveRange& range) {
    used[static_cast<size_t>(allocation)].push_back(range);
  }
  bool is_free(int32_t allocation, const std::vector<LiveRange>& ranges) const {
    for (const LiveRange& there : used[static_cast<size_t>(allocation)])
      for (const LiveRange& range : ranges)
        if (there.start < range.end && range.start < there.end) return false;
    return true;
  }
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int32_t below(int32_t n) { return static_cast<int32_t>(engine_() % static_cast<uint64_t>(n)); }
  /// Ends are multiples of `unit`; of one step only if that is 1.
  LiveRange range(int32_t unit) {
    const int32_t start = below(kSteps / unit), shortest = unit > 1;
    const int32_t longest = below(4) == 0 ? kSteps / unit : 4;
    return {start * unit, std::min(start + shortest + below(longest), kSteps / unit) * unit, kNoPlace};
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<int32_t> offered(BusyAllocations& busy, const std::vector<LiveRange>& ranges, int32_t count) {
  std::vector<int32_t> found;
  EXPECT_FALSE(busy.find_free(ranges, count, [&](int32_t allocation) {
    found.push_back(allocation);
    return false;
  }));
  return found;
}

/// `each` is called for some ranges of steps after some were added.
template <class F>
void try_ranges(int32_t unit, F&& each) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    BusyAllocations busy(kSteps);
    Slow slow;
    for (int round = 0; round < 100; ++round) {
      for (int i = 0; i < 5; ++i) {
        const int32_t allocation = random.below(kAllocations);
        const LiveRange range = random.range(unit);
        busy.add(allocation, range);
        slow.add(allocation, range);
      }
      std::vector<LiveRange> ranges(static_cast<size_t>(1 + random.below(3)));
      for (LiveRange& range : ranges) range = random.range(unit);
      each(busy, slow, ranges, random.below(kAllocations + 1));
    }
  }
}

TEST(BusyAllocations, OffersAllThatAreFreeFromTheLastOn) {
  size_t busy_ones = 0;
  try_ranges(
      1, [&](BusyAllocations& busy, const Slow& slow, const std::vector<LiveRange>& ranges, int32_t count) {
        const std::vector<int32_t> found = offered(busy, ranges, count);
        EXPECT_TRUE(std::is_sorted(found.rbegin(), found.rend()));
        for (const int32_t allocation : found) EXPECT_LT(allocation, count);
        for (int32_t allocation = 0; allocation < count; ++allocation) {
          const bool is_offered = std::binary_search(found.rbegin(), found.rend(), allocation);
          const bool is_free = slow.is_free(allocation, ranges);
          EXPECT_TRUE(is_offered || !is_free) << allocation;
          busy_ones += !is_offered;
        }
      });
  EXPECT_GT(busy_ones, 1000u);
}

/// Leaves have eight steps.
TEST(BusyAllocations, OffersThoseAloneWhereRangesEndBetweenLeaves) {
  try_ranges(
      8, [&](BusyAllocations& busy, const Slow& slow, const std::vector<LiveRange>& ranges, int32_t count) {
        for (const LiveRange& range : ranges)
          if (range.start == range.end) return;  // they meet nothing but at a leaf's edge
        std::vector<int32_t> free;
        for (int32_t allocation = count; allocation-- > 0;)
          if (slow.is_free(allocation, ranges)) free.push_back(allocation);
        EXPECT_EQ(offered(busy, ranges, count), free);
      });
}

TEST(BusyAllocations, StopsAtTheFirstThatIsTaken) {
  BusyAllocations busy(100);
  busy.add(2, {0, 100, kNoPlace});
  busy.add_always(1);
  std::vector<int32_t> asked;
  const LiveRange range{10, 90, kNoPlace}, point{50, 50, kNoPlace};
  for (const LiveRange& one : {range, point})
    EXPECT_TRUE(busy.find_free(std::span(&one, 1), 5, [&](int32_t allocation) {
      asked.push_back(allocation);
      return allocation == 0;
    }));
  EXPECT_EQ(asked, (std::vector<int32_t>{4, 3, 0, 4, 3, 0}));
}

}  // namespace
}  // namespace hlosim
