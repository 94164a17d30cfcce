#include "buffers/interval_packing.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "base/rounding.h"
#include "buffers/taken_space.h"

namespace hlosim {
namespace {

/// Spans that overlap or follow one another as one.
void merge(std::vector<TimeSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](TimeSpan a, TimeSpan b) { return a.first < b.first; });
  size_t count = 0;
  for (const TimeSpan span : spans) {
    if (count > 0 && span.first <= spans[count - 1].last + 1)
      spans[count - 1].last = std::max(spans[count - 1].last, span.last);
    else
      spans[count++] = span;
  }
  spans.resize(count);
}

/// Items that share memory, the one that stands for them first.
std::vector<std::vector<int32_t>> groups_of(std::span<const PackItem> items) {
  std::vector<std::vector<int32_t>> groups(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].group == static_cast<int32_t>(i)) groups[i].push_back(static_cast<int32_t>(i));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto group = static_cast<size_t>(items[i].group);
    HLOSIM_CHECK(items[group].group == items[i].group,
                 "item {} shares an offset with {}, which shares one with {}", i, group, items[group].group);
    if (group != i) groups[group].push_back(static_cast<int32_t>(i));
  }
  return groups;
}

/// What both orders need to know of the items.
class Packer {
 public:
  Packer(std::span<const PackItem> items, int64_t alignment)
      : items_(items), alignment_(alignment), groups_(groups_of(items)), spans_(items.size()) {
    // Times as moments, the starts of items in ascending order: two spans of time overlap exactly where one
    // of them starts in the other one.
    std::vector<int64_t> starts;
    starts.reserve(items.size());
    for (const PackItem& item : items) starts.push_back(item.start);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    moments_ = static_cast<int32_t>(starts.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const auto first = std::lower_bound(starts.begin(), starts.end(), items[i].start);
      const auto end = std::upper_bound(first, starts.end(), items[i].end);
      spans_[i] = {static_cast<int32_t>(first - starts.begin()),
                   static_cast<int32_t>(end - starts.begin()) - 1};
    }
  }

  /// Nothing: it needs `limit` bytes or more.
  std::optional<Packing> run(PackOrder order, int64_t limit) const {
    Packing packing;
    packing.offset.assign(items_.size(), 0);
    TakenSpace taken(moments_);
    std::vector<TimeSpan> times;
    for (const int32_t first : sorted(order)) {
      const std::vector<int32_t>& members = groups_[static_cast<size_t>(first)];
      int64_t size = 0;
      times.clear();
      for (const int32_t member : members) {
        size = std::max(size, item(member).shift + item(member).size);
        times.push_back(spans_[static_cast<size_t>(member)]);
      }
      if (size == 0) continue;
      merge(times);
      const int64_t unit = taken.best_gap(times, units(size)), offset = unit * alignment_;
      packing.size = std::max(packing.size, offset + size);
      if (packing.size >= limit) return std::nullopt;
      for (const int32_t member : members) {
        packing.offset[static_cast<size_t>(member)] = offset + item(member).shift;
        if (item(member).size == 0) continue;
        const int64_t begin = unit + units(item(member).shift);
        taken.take(spans_[static_cast<size_t>(member)], {begin, begin + units(item(member).size)});
      }
    }
    return packing;
  }

 private:
  const PackItem& item(int32_t index) const { return items_[static_cast<size_t>(index)]; }
  /// Offsets are multiples of the alignment, so that what isn't one can't be used behind an item either.
  int64_t units(int64_t bytes) const { return ceil_div(bytes, alignment_); }

  /// The items that stand for their groups, in the order in which they get their places.
  std::vector<int32_t> sorted(PackOrder order) const {
    using Key = std::tuple<int64_t, int64_t, int64_t, int32_t>;
    std::vector<Key> keys;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (groups_[i].empty()) continue;
      int64_t end = items_[i].end;
      if (order == PackOrder::kTemporal)
        for (const int32_t member : groups_[i]) end = std::max(end, item(member).end);
      const int64_t duration = end - items_[i].start, size = items_[i].size;
      const bool by_size = order == PackOrder::kSpatial;
      keys.emplace_back(by_size ? -size : -duration, by_size ? -duration : -size, items_[i].order,
                        static_cast<int32_t>(i));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<int32_t> sorted;
    sorted.reserve(keys.size());
    for (const Key& key : keys) sorted.push_back(std::get<3>(key));
    return sorted;
  }

  std::span<const PackItem> items_;
  int64_t alignment_;
  std::vector<std::vector<int32_t>> groups_;
  std::vector<TimeSpan> spans_;  // by item, in moments
  int32_t moments_ = 0;
};

/// Items of each group need the same bytes, so that no packing is smaller than peak_of().
bool are_alike_in_groups(std::span<const PackItem> items) {
  return std::ranges::all_of(items, [&](const PackItem& item) {
    return item.shift == 0 && item.size == items[static_cast<size_t>(item.group)].size;
  });
}

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

}  // namespace

Packing pack(std::span<const PackItem> items, int64_t alignment, PackOrder order) {
  return *Packer(items, alignment).run(order, kNoLimit);
}

Packing pack_best(std::span<const PackItem> items, int64_t alignment) {
  const Packer packer(items, alignment);
  Packing spatial = *packer.run(PackOrder::kSpatial, kNoLimit);
  if (are_alike_in_groups(items) && spatial.size <= peak_of(items)) return spatial;
  // The other order is given up once it needs as much.
  std::optional<Packing> temporal = packer.run(PackOrder::kTemporal, spatial.size);
  return temporal ? std::move(*temporal) : std::move(spatial);
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
