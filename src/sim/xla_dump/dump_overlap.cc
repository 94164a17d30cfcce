#include "xla_dump/dump_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace hlosim {
namespace {

struct Placed {
  const DumpValue* value;
  const DumpRange* range;
  int64_t end() const { return value->offset + value->size; }
};

Diagnostic overlap(const BufferDump& dump, const DumpAllocation& allocation, const Placed& a,
                   const Placed& b) {
  const Placed &first = a.value->text_at < b.value->text_at ? a : b, &second = &first == &a ? b : a;
  Diagnostic finding;
  finding.source = dump.source;
  finding.offset = second.value->text_at;
  const auto text = [](const Placed& at) { return key_of(at.value->value.name, at.value->value.index); };
  finding.message =
      fmt::format("{} (live {}-{}) and {} (live {}-{}) both use bytes {} to {} of allocation {}", text(first),
                  first.range->start, first.range->end, text(second), second.range->start, second.range->end,
                  std::max(first.value->offset, second.value->offset),
                  std::min(first.end(), second.end()) - 1, allocation.number);
  return finding;
}

/// What is in memory at a time, by offset: it never overlaps.
class Alive {
 public:
  /// What lies on the bytes of `at`; null: nothing.
  const Placed* on(const Placed& at) const {
    auto next = by_offset_.lower_bound(at.end());
    if (next == by_offset_.begin()) return nullptr;
    --next;
    return next->second.end() > at.value->offset ? &next->second : nullptr;
  }
  void add(const Placed& at) {
    by_offset_.emplace(at.value->offset, at);
    by_end_.emplace(at.range->end, at.value->offset);
  }
  void remove_until(int64_t step) {
    while (!by_end_.empty() && by_end_.begin()->first <= step) {
      by_offset_.erase(by_end_.begin()->second);
      by_end_.erase(by_end_.begin());
    }
  }

 private:
  std::map<int64_t, Placed> by_offset_;
  std::multimap<int64_t, int64_t> by_end_;  // last step -> offset
};

std::optional<Diagnostic> overlap_in(const BufferDump& dump, const DumpAllocation& allocation,
                                     const std::unordered_map<std::string, const DumpRange*>& ranges) {
  std::vector<Placed> placed;
  for (const DumpValue& value : allocation.values)
    if (const auto found = ranges.find(key_of(value.value.name, value.value.index));
        found != ranges.end() && value.size > 0)
      placed.push_back({&value, found->second});
  // Of those that start together, the ones that end there as well come first: nothing that starts with them
  // is in their way.
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tuple(a.range->start, a.range->end) < std::tuple(b.range->start, b.range->end);
  });
  Alive alive;
  for (const Placed& at : placed) {
    alive.remove_until(at.range->start);
    if (const Placed* other = alive.on(at)) return overlap(dump, allocation, *other, at);
    if (at.range->end > at.range->start) alive.add(at);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnostic> find_overlap(const BufferDump& dump) {
  std::unordered_map<std::string, const DumpRange*> ranges;
  for (const DumpRange& range : dump.live_range.ranges)
    ranges.emplace(key_of(range.name, range.index), &range);
  if (ranges.empty()) return std::nullopt;
  for (const DumpAllocation& allocation : dump.allocations)
    if (auto found = overlap_in(dump, allocation, ranges)) return found;
  return std::nullopt;
}

}  // namespace hlosim
