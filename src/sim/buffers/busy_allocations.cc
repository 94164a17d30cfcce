#include "buffers/busy_allocations.h"

#include <algorithm>
#include <bit>

namespace hlosim {
namespace {

constexpr int32_t kLeaves = 1024;
constexpr int32_t kLeastSteps = 8;  // of a leaf
constexpr int32_t kWord = 64;

void set(std::vector<uint64_t>& bits, int32_t number) {
  const auto word = static_cast<size_t>(number / kWord);
  if (word >= bits.size()) bits.resize(word + 1);
  bits[word] |= uint64_t{1} << (number % kWord);
}

}  // namespace

BusyAllocations::BusyAllocations(int32_t steps) {
  steps = std::max(steps, 1);
  leaf_ = std::max(kLeastSteps, (steps + kLeaves - 1) / kLeaves);
  const uint32_t leaves = std::bit_ceil(static_cast<uint32_t>((steps + leaf_ - 1) / leaf_));
  end_ = static_cast<int32_t>(leaves) * leaf_;
  nodes_.resize(2 * leaves - 1);
}

void BusyAllocations::add(int32_t allocation, const LiveRange& range) {
  if (range.start < range.end) add(0, {0, end_}, {range.start, range.end}, allocation);
}

void BusyAllocations::add(size_t node, Span at, Span used, int32_t allocation) {
  set(nodes_[node].some, allocation);
  if (used.begin <= at.begin && at.end <= used.end) {
    set(nodes_[node].all, allocation);
    return;
  }
  if (at.end - at.begin == leaf_) return;
  const int32_t middle = at.begin + (at.end - at.begin) / 2;
  if (used.begin < middle) add(2 * node + 1, {at.begin, middle}, used, allocation);
  if (used.end > middle) add(2 * node + 2, {middle, at.end}, used, allocation);
}

void BusyAllocations::collect(size_t node, Span at, Span wanted) {
  if (nodes_[node].some.empty()) return;
  if (wanted.begin <= at.begin && at.end <= wanted.end) {
    found_.push_back(&nodes_[node].some);
    return;
  }
  if (!nodes_[node].all.empty()) found_.push_back(&nodes_[node].all);
  if (at.end - at.begin == leaf_) return;
  const int32_t middle = at.begin + (at.end - at.begin) / 2;
  if (wanted.begin < middle) collect(2 * node + 1, {at.begin, middle}, wanted);
  if (wanted.end > middle) collect(2 * node + 2, {middle, at.end}, wanted);
}

/// A value that lives for one step meets those that live before and after it.
void BusyAllocations::collect_around(int32_t step) {
  size_t node = 0;
  for (Span at{0, end_}; at.begin < step && step < at.end;) {
    if (!nodes_[node].all.empty()) found_.push_back(&nodes_[node].all);
    if (at.end - at.begin == leaf_) return;
    const int32_t middle = at.begin + (at.end - at.begin) / 2;
    const bool left = step <= middle;
    node = 2 * node + (left ? 1 : 2);
    at = left ? Span{at.begin, middle} : Span{middle, at.end};
  }
}

bool BusyAllocations::find_free(std::span<const LiveRange> ranges, int32_t count,
                                const std::function<bool(int32_t)>& take) {
  found_.clear();
  for (const LiveRange& range : ranges)
    if (range.start == range.end)
      collect_around(range.start);
    else
      collect(0, {0, end_}, {range.start, range.end});
  std::sort(found_.begin(), found_.end());
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  for (int32_t word = (count + kWord - 1) / kWord; word-- > 0;) {
    uint64_t busy = 0;
    for (const Bits* bits : found_)
      if (static_cast<size_t>(word) < bits->size()) busy |= (*bits)[static_cast<size_t>(word)];
    const int32_t here = std::min(count - word * kWord, kWord);
    uint64_t free = ~busy & (here == kWord ? ~uint64_t{0} : (uint64_t{1} << here) - 1);
    while (free != 0) {
      const int32_t bit = kWord - 1 - std::countl_zero(free);
      if (take(word * kWord + bit)) return true;
      free &= ~(uint64_t{1} << bit);
    }
  }
  return false;
}

}  // namespace hlosim
