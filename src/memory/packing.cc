#include "memory/packing.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace hlosim {
namespace {

/// The items that have their place, found by time: a tree over all items by start, each node with the latest
/// end of the placed ones below it.
class PlacedItems {
 public:
  explicit PlacedItems(std::span<const PackItem> items)
      : items_(items), by_start_(items.size()), rank_(items.size()) {
    std::iota(by_start_.begin(), by_start_.end(), 0);
    std::sort(by_start_.begin(), by_start_.end(), [&](int32_t a, int32_t b) {
      return std::tuple(item(a).start, a) < std::tuple(item(b).start, b);
    });
    starts_.reserve(items.size());
    for (size_t i = 0; i < by_start_.size(); ++i) {
      rank_[static_cast<size_t>(by_start_[i])] = static_cast<int32_t>(i);
      starts_.push_back(item(by_start_[i]).start);
    }
    leaves_ = std::bit_ceil(std::max<size_t>(items.size(), 1));
    latest_.assign(2 * leaves_, std::numeric_limits<int64_t>::min());
  }

  void add(int32_t index) {
    size_t node = leaves_ + static_cast<size_t>(rank_[static_cast<size_t>(index)]);
    for (; node > 0 && latest_[node] < item(index).end; node /= 2) latest_[node] = item(index).end;
  }

  /// Calls f(index) for the placed items that need memory at some time in [start, end].
  template <class F>
  void for_each_overlapping(int64_t start, int64_t end, F&& f) const {
    const auto count =
        static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), end) - starts_.begin());
    if (count > 0) visit(1, 0, leaves_, count, start, f);
  }

 private:
  const PackItem& item(int32_t index) const { return items_[static_cast<size_t>(index)]; }

  template <class F>
  void visit(size_t node, size_t first, size_t width, size_t count, int64_t start, F& f) const {
    if (first >= count || latest_[node] < start) return;
    if (width == 1) {
      f(by_start_[first]);
      return;
    }
    visit(2 * node, first, width / 2, count, start, f);
    visit(2 * node + 1, first + width / 2, width / 2, count, start, f);
  }

  std::span<const PackItem> items_;
  std::vector<int32_t> by_start_, rank_;
  std::vector<int64_t> starts_;
  std::vector<int64_t> latest_;
  size_t leaves_ = 1;
};

struct Chunk {
  int64_t begin, end;
};

/// Begin of the smallest gap between `taken` that holds `size` bytes; behind everything if none does.
int64_t best_gap(std::vector<Chunk>& taken, int64_t size, int64_t alignment) {
  std::sort(taken.begin(), taken.end(), [](const Chunk& a, const Chunk& b) { return a.begin < b.begin; });
  const auto aligned = [alignment](int64_t at) { return (at + alignment - 1) / alignment * alignment; };
  int64_t best = -1, best_size = std::numeric_limits<int64_t>::max(), top = 0;
  for (const Chunk& chunk : taken) {
    const int64_t begin = aligned(top), room = chunk.begin - begin;
    if (room >= size && room < best_size) best = begin, best_size = room;
    top = std::max(top, chunk.end);
  }
  return best >= 0 ? best : aligned(top);
}

/// Items that share memory, the one that stands for them first.
std::vector<std::vector<int32_t>> groups_of(std::span<const PackItem> items) {
  std::vector<std::vector<int32_t>> groups(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].group == static_cast<int32_t>(i)) groups[i].push_back(static_cast<int32_t>(i));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto group = static_cast<size_t>(items[i].group);
    HLOSIM_CHECK(items[group].group == items[i].group, "item {} lies with {}, which lies with {}", i, group,
                 items[group].group);
    if (group != i) groups[group].push_back(static_cast<int32_t>(i));
  }
  return groups;
}

}  // namespace

Packing pack(std::span<const PackItem> items, int64_t alignment, PackOrder order) {
  const std::vector<std::vector<int32_t>> groups = groups_of(items);
  struct Candidate {
    int32_t item;
    int64_t size, duration;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < items.size(); ++i) {
    if (groups[i].empty()) continue;
    int64_t end = items[i].end;
    if (order == PackOrder::kTemporal)
      for (const int32_t member : groups[i]) end = std::max(end, items[static_cast<size_t>(member)].end);
    candidates.push_back({static_cast<int32_t>(i), items[i].size, end - items[i].start});
  }
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    const auto key = [&](const Candidate& c) {
      const int64_t last = items[static_cast<size_t>(c.item)].order;
      return order == PackOrder::kSpatial ? std::tuple(-c.size, -c.duration, last)
                                          : std::tuple(-c.duration, -c.size, last);
    };
    return key(a) < key(b);
  });

  Packing packing;
  packing.offset.assign(items.size(), 0);
  PlacedItems placed(items);
  std::vector<Chunk> taken;
  for (const Candidate& candidate : candidates) {
    const std::vector<int32_t>& members = groups[static_cast<size_t>(candidate.item)];
    int64_t size = 0;
    taken.clear();
    for (const int32_t member : members) {
      const PackItem& item = items[static_cast<size_t>(member)];
      size = std::max(size, item.size);
      placed.for_each_overlapping(item.start, item.end, [&](int32_t other) {
        const auto o = static_cast<size_t>(other);
        taken.push_back({packing.offset[o], packing.offset[o] + items[o].size});
      });
    }
    if (size == 0) continue;
    const int64_t offset = best_gap(taken, size, alignment);
    packing.size = std::max(packing.size, offset + size);
    for (const int32_t member : members) {
      packing.offset[static_cast<size_t>(member)] = offset;
      if (items[static_cast<size_t>(member)].size > 0) placed.add(member);
    }
  }
  return packing;
}

Packing pack_best(std::span<const PackItem> items, int64_t alignment) {
  Packing spatial = pack(items, alignment, PackOrder::kSpatial);
  Packing temporal = pack(items, alignment, PackOrder::kTemporal);
  return temporal.size < spatial.size ? std::move(temporal) : std::move(spatial);
}

int64_t peak_of(std::span<const PackItem> items) {
  struct Event {
    int64_t time;
    bool is_start;
    int32_t item;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < items.size(); ++i) {
    events.push_back({items[i].start, true, static_cast<int32_t>(i)});
    events.push_back({items[i].end + 1, false, static_cast<int32_t>(i)});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time, a.is_start) < std::tuple(b.time, b.is_start);
  });
  // How many of each group are there, and the largest of them: groups are of one size but for odd layouts.
  std::vector<int32_t> alive(items.size(), 0);
  std::vector<int64_t> counted(items.size(), 0);
  int64_t now = 0, peak = 0;
  for (const Event& event : events) {
    const PackItem& item = items[static_cast<size_t>(event.item)];
    const auto group = static_cast<size_t>(item.group);
    if (event.is_start) {
      ++alive[group];
      now += std::max(item.size - counted[group], int64_t{0});
      counted[group] = std::max(counted[group], item.size);
    } else if (--alive[group] == 0) {
      now -= counted[group];
      counted[group] = 0;
    }
    peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace hlosim
