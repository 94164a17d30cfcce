#include "buffers/interval_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "buffers/taken_space.h"
#include "slow_packing.h"

namespace hlosim {
namespace {

std::vector<PackItem> random_items(std::mt19937& random, int count, int times, int64_t largest) {
  std::vector<PackItem> items;
  for (int i = 0; i < count; ++i) {
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    PackItem item;
    item.size = below(largest) + 1;
    item.start = below(times);
    item.end = std::min<int64_t>(times - 1, item.start + below(6));
    item.group = i;
    item.order = i;
    if (i > 0 && below(8) == 0) item.group = items[static_cast<size_t>(below(i))].group;
    if (item.group != i) item.size = items[static_cast<size_t>(item.group)].size;
    items.push_back(item);
  }
  return items;
}

/// Every pair, one by one: the same offset within a group, no byte in common in different ones.
void expect_valid(const std::vector<PackItem>& items, const Packing& packing, int64_t alignment) {
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(packing.offset[i] % alignment, 0);
    EXPECT_LE(packing.offset[i] + items[i].size, packing.size);
    for (size_t k = 0; k < i; ++k) {
      if (items[i].group == items[k].group) {
        EXPECT_EQ(packing.offset[i], packing.offset[k]);
        continue;
      }
      const bool in_time = items[i].start <= items[k].end && items[k].start <= items[i].end;
      const bool in_space = packing.offset[i] < packing.offset[k] + items[k].size &&
                            packing.offset[k] < packing.offset[i] + items[i].size;
      EXPECT_FALSE(in_time && in_space) << i << " and " << k;
    }
  }
}

int64_t slow_peak(const std::vector<PackItem>& items) {
  int64_t peak = 0, last = 0;
  for (const PackItem& item : items) last = std::max(last, item.end);
  for (int64_t time = 0; time <= last; ++time) {
    int64_t now = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].group != static_cast<int32_t>(i)) continue;
      bool alive = false;
      for (size_t k = i; k < items.size(); ++k)
        alive |= items[k].group == static_cast<int32_t>(i) && items[k].start <= time && time <= items[k].end;
      if (alive) now += items[i].size;
    }
    peak = std::max(peak, now);
  }
  return peak;
}

/// The smallest heap there is: every order of placing items at the lowest free offset, cut off by the best so
/// far. Some order gives the optimum.
int64_t exact_size(const std::vector<PackItem>& items) {
  const size_t count = items.size();
  std::vector<int64_t> offset(count, -1);
  int64_t best = std::accumulate(items.begin(), items.end(), int64_t{0},
                                 [](int64_t sum, const PackItem& item) { return sum + item.size; });
  const int64_t least = slow_peak(items);
  const std::function<void(size_t, int64_t)> place = [&](size_t placed, int64_t size) {
    if (size >= best || best == least) return;
    if (placed == count) {
      best = size;
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      if (offset[i] >= 0) continue;
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (size_t k = 0; k < count; ++k)
        if (offset[k] >= 0 && items[i].start <= items[k].end && items[k].start <= items[i].end)
          taken.emplace_back(offset[k], offset[k] + items[k].size);
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [begin, end] : taken) {
        if (begin - at >= items[i].size) break;
        at = std::max(at, end);
      }
      // Orders that go down again were tried from below.
      if (placed > 0 && at < *std::max_element(offset.begin(), offset.end())) continue;
      offset[i] = at;
      place(placed + 1, std::max(size, at + items[i].size));
      offset[i] = -1;
    }
  };
  place(0, 0);
  return best;
}

TEST(Packing, NothingOverlapsAndThePeakFits) {
  std::mt19937 random(1);
  std::vector<double> ratios;
  for (int round = 0; round < 3000; ++round) {
    const auto items = random_items(random, 1 + round % 40, 30, round % 3 == 0 ? 100 : 1'000'000);
    const int64_t alignment = round % 2 == 0 ? 1 : 64;
    const int64_t peak = slow_peak(items);
    EXPECT_EQ(peak_of(items), peak);
    for (const PackOrder order : {PackOrder::kSpatial, PackOrder::kTemporal}) {
      const Packing packing = pack(items, alignment, order);
      expect_valid(items, packing, alignment);
      EXPECT_GE(packing.size, peak);
    }
    const Packing best = pack_best(items, alignment);
    EXPECT_EQ(best.size, std::min(pack(items, alignment, PackOrder::kSpatial).size,
                                  pack(items, alignment, PackOrder::kTemporal).size));
    if (alignment == 1) ratios.push_back(static_cast<double>(best.size) / static_cast<double>(peak));
  }
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  EXPECT_LE(ratios[ratios.size() / 2], 1.05);
}

/// Items of all lengths, groups of several sizes, items of no size, times with gaps.
std::vector<PackItem> varied_items(std::mt19937& random, int count, int64_t times, int64_t largest) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  std::vector<PackItem> items;
  const int64_t longest = 1 + below(times);
  for (int i = 0; i < count; ++i) {
    PackItem item;
    item.size = below(12) == 0 ? 0 : below(largest) + 1;
    item.start = below(times) * (1 + below(3));
    item.end = item.start + (below(3) == 0 ? below(longest) : below(5));
    item.group = i > 0 && below(6) == 0 ? items[static_cast<size_t>(below(i))].group : i;
    item.order = below(2) == 0 ? i : -i;
    items.push_back(item);
  }
  return items;
}

TEST(Packing, PlacesEverythingWhereTheSlowOneDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 4000; ++round) {
    const int count = 1 + (round % 10 == 0 ? round % 300 : round % 40);
    const auto items = varied_items(random, count, round % 2 == 0 ? 30 : 700, round % 3 == 0 ? 60 : 100'000);
    const int64_t alignment = std::array<int64_t, 3>{1, 7, 64}[static_cast<size_t>(round % 3)];
    std::array<Packing, 2> expected;
    for (const PackOrder order : {PackOrder::kSpatial, PackOrder::kTemporal}) {
      const Packing slow = test::slow_pack(items, alignment, order), fast = pack(items, alignment, order);
      ASSERT_EQ(fast.offset, slow.offset) << "round " << round;
      ASSERT_EQ(fast.size, slow.size) << "round " << round;
      expected[order == PackOrder::kSpatial ? 0 : 1] = slow;
    }
    const Packing& better = expected[expected[1].size < expected[0].size ? 1 : 0];
    ASSERT_EQ(pack_best(items, alignment).offset, better.offset) << "round " << round;
  }
}

TEST(Packing, ManyItemsToo) {
  std::mt19937 random(4);
  const auto items = varied_items(random, 3000, 4000, 1'000'000);
  const Packing spatial = test::slow_pack(items, 64, PackOrder::kSpatial);
  const Packing temporal = test::slow_pack(items, 64, PackOrder::kTemporal);
  const Packing best = pack_best(items, 64);
  EXPECT_EQ(best.offset, (temporal.size < spatial.size ? temporal : spatial).offset);
}

TEST(TakenSpace, FindsTheSmallestGapThatIsFreeAllTheTime) {
  TakenSpace taken(100);
  taken.take({0, 99}, {0, 10});
  taken.take({40, 50}, {20, 30});
  taken.take({60, 99}, {16, 40});
  const auto gap = [&](std::vector<TimeSpan> times, int64_t size) { return taken.best_gap(times, size); };
  EXPECT_EQ(gap({{0, 10}}, 5), 10);
  EXPECT_EQ(gap({{0, 45}}, 10), 10);           // exactly as large as the gap
  EXPECT_EQ(gap({{0, 45}}, 11), 30);           // one more doesn't fit
  EXPECT_EQ(gap({{0, 70}}, 6), 10);            // both of them narrow it
  EXPECT_EQ(gap({{0, 70}}, 7), 40);            // what is between 30 and 40 is taken later on
  EXPECT_EQ(gap({{0, 10}, {60, 61}}, 7), 40);  // apart in time
  EXPECT_EQ(gap({{51, 59}}, 1000), 10);        // between the two
}

// What is taken over some moments, byte by byte, finds the same gaps.
TEST(TakenSpace, FindsThemAmongManyThatEndAtOneMoment) {
  constexpr int32_t kMoments = 100;
  constexpr int64_t kBytes = 2000;
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return static_cast<int32_t>(random() % static_cast<uint64_t>(n)); };
  TakenSpace taken(kMoments);
  std::vector<std::vector<bool>> bytes(kMoments, std::vector<bool>(kBytes, false));
  for (int i = 0; i < 600; ++i) {
    const int32_t last = below(4) > 0 ? 70 : below(kMoments);
    const TimeSpan time{below(last + 1), last};
    const int64_t begin = below(kBytes - 20), end = begin + 1 + below(20);
    taken.take(time, {begin, end});
    for (int32_t moment = time.first; moment <= time.last; ++moment)
      std::fill(bytes[static_cast<size_t>(moment)].begin() + begin,
                bytes[static_cast<size_t>(moment)].begin() + end, true);
    const int32_t first = below(kMoments);
    const TimeSpan asked{first, first + below(kMoments - first)};
    const int64_t size = 1 + below(12);
    int64_t best = 0, best_size = std::numeric_limits<int64_t>::max(), free = 0;
    for (int64_t at = 0; at <= kBytes; ++at) {
      bool is_free = at < kBytes;
      for (int32_t moment = asked.first; is_free && moment <= asked.last; ++moment)
        is_free = !bytes[static_cast<size_t>(moment)][static_cast<size_t>(at)];
      if (is_free) {
        ++free;
      } else {
        if (at < kBytes && free >= size && free < best_size) best = at - free, best_size = free;
        if (at == kBytes && best_size == std::numeric_limits<int64_t>::max()) best = at - free;
        free = 0;
      }
    }
    EXPECT_EQ(taken.best_gap(std::span(&asked, 1), size), best) << i;
  }
}

TEST(Packing, IsNearTheOptimumOfSmallCases) {
  std::mt19937 random(2);
  double sum = 0, worst = 1;
  int optimal = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<PackItem> items = random_items(random, 4 + round % 9, 10, 40);
    for (size_t i = 0; i < items.size(); ++i) items[i].group = static_cast<int32_t>(i);
    const int64_t exact = exact_size(items), ours = pack_best(items, 1).size;
    ASSERT_GE(ours, exact);
    const double ratio = static_cast<double>(ours) / static_cast<double>(exact);
    sum += ratio;
    worst = std::max(worst, ratio);
    optimal += ours == exact;
  }
  RecordProperty("optimal", optimal);
  RecordProperty("mean_percent_above", static_cast<int>(100 * (sum / kRounds - 1)));
  std::printf("best fit: optimal in %d of %d, %.2f%% above the optimum on average, %.1f%% at worst\n",
              optimal, kRounds, 100 * (sum / kRounds - 1), 100 * (worst - 1));
  EXPECT_GE(optimal, kRounds * 7 / 10);
  EXPECT_LE(sum / kRounds, 1.03);
}

TEST(Packing, TakesTheSmallestGapThatFits) {
  // Two gaps of 30 and 10 under three blocks that are there all the time; 10 go into the smaller one.
  std::vector<PackItem> items = {{100, 0, 9}, {100, 0, 4}, {40, 5, 9}, {30, 5, 9}};
  for (size_t i = 0; i < items.size(); ++i)
    items[i].group = static_cast<int32_t>(i), items[i].order = static_cast<int64_t>(i);
  const Packing packing = pack(items, 1, PackOrder::kSpatial);
  EXPECT_EQ(packing.size, 200);
  EXPECT_EQ(packing.offset, (std::vector<int64_t>{0, 100, 100, 140}));
}

TEST(Packing, EmptyThingsTakeNothing) {
  EXPECT_EQ(pack_best({}, 64).size, 0);
  const std::vector<PackItem> items = {{0, 0, 3, 0, 0}, {10, 1, 2, 1, 1}};
  const Packing packing = pack_best(items, 64);
  EXPECT_EQ(packing.size, 10);
  EXPECT_EQ(packing.offset, (std::vector<int64_t>{0, 0}));
}

}  // namespace
}  // namespace hlosim
