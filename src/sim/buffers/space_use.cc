#include "buffers/space_use.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "layout/sizes.h"

namespace hlosim {
namespace {

/// Bytes at `step` that a value shares with another one that ends where it starts.
int64_t shared_bytes(const AssignedValue& a, const AssignedValue& b) {
  return std::max<int64_t>(std::min(a.offset + a.size, b.offset + b.size) - std::max(a.offset, b.offset), 0);
}

void add_allocation(const BufferAnalysis& analysis, const Allocation& allocation,
                    std::vector<int64_t>& change) {
  const int32_t steps = analysis.schedule.end();
  const auto range = [&](const AssignedValue& v) -> const LiveRange& {
    return analysis.ranges[static_cast<size_t>(v.value)];
  };
  std::map<int32_t, std::vector<const AssignedValue*>> ending;
  for (const AssignedValue& value : allocation.values)
    if (range(value).known()) ending[range(value).end].push_back(&value);
  for (const AssignedValue& value : allocation.values) {
    const LiveRange& live = range(value);
    if (!live.known() || live.start >= steps) continue;
    change[static_cast<size_t>(live.start)] += value.size;
    change[static_cast<size_t>(std::min(live.end + 1, steps))] -= value.size;
    const auto before = ending.find(live.start);
    if (before == ending.end()) continue;
    int64_t shared = 0;
    for (const AssignedValue* other : before->second)
      if (std::tuple(range(*other).start, other->value) < std::tuple(live.start, value.value))
        shared = std::max(shared, shared_bytes(*other, value));
    change[static_cast<size_t>(live.start)] -= shared;
    change[static_cast<size_t>(live.start) + 1] += shared;
  }
}

}  // namespace

std::vector<SpaceUse> space_use(const BufferAnalysis& analysis) {
  const auto steps = static_cast<size_t>(analysis.schedule.end());
  std::map<int64_t, SpaceUse> spaces;
  std::map<int64_t, std::vector<int64_t>> changes;
  for (const Allocation& allocation : analysis.assignment.allocations) {
    if (allocation.is_thread_local) continue;
    SpaceUse& use = spaces[allocation.space];
    use.space = allocation.space;
    use.allocated += allocation.size;
    std::vector<int64_t>& change = changes[allocation.space];
    change.resize(steps + 2);
    add_allocation(analysis, allocation, change);
  }
  std::vector<SpaceUse> out;
  for (auto& [space, use] : spaces) {
    int64_t now = 0;
    for (size_t i = 0; i < steps; ++i) {
      now += changes[space][i];
      use.at_step.push_back(now);
      if (now > use.peak) use.peak = now, use.peak_step = static_cast<int32_t>(i);
    }
    for (const ValueIndex value : live_at(analysis, use.peak_step)) {
      const ShapeRef shape = analysis.shape(value);
      if (analysis.spaces[static_cast<size_t>(value)] != space || !shape->is_array()) continue;
      use.dense += dense_bytes(shape).count();
      use.padded += array_size(shape).count();
    }
    out.push_back(std::move(use));
  }
  return out;
}

std::vector<ValueIndex> live_at(const BufferAnalysis& analysis, int32_t step) {
  std::vector<ValueIndex> found;
  std::vector<uint8_t> seen(static_cast<size_t>(analysis.buffers->size()));
  for (size_t i = 0; i < analysis.values.size(); ++i) {
    const auto value = static_cast<ValueIndex>(i);
    const LiveRange& range = analysis.ranges[i];
    if (!range.known() || range.start > step || range.end < step || analysis.assignment.allocation_of[i] < 0)
      continue;
    uint8_t& is_known = seen[static_cast<size_t>(analysis.buffers->of(value))];
    if (!is_known) found.push_back(value);
    is_known = 1;
  }
  std::stable_sort(found.begin(), found.end(), [&](ValueIndex a, ValueIndex b) {
    return analysis.sizes[static_cast<size_t>(a)] > analysis.sizes[static_cast<size_t>(b)];
  });
  return found;
}

}  // namespace hlosim
