#include "physical/placement.h"

#include <algorithm>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// Between allocations: what the largest vector of an x86-64 processor takes.
constexpr int64_t kAllocationAlignment = 64;

}  // namespace

Placement::Placement(const BufferAnalysis& analysis) : locations_(analysis.values.size()) {
  for (const Allocation& allocation : analysis.assignment.allocations) {
    if (allocation.is_thread_local) continue;
    auto space = std::find_if(spaces_.begin(), spaces_.end(),
                              [&](const PlacedSpace& placed) { return placed.space == allocation.space; });
    if (space == spaces_.end()) space = spaces_.insert(space, {allocation.space, 0});
    const int64_t base = round_up(space->size, kAllocationAlignment);
    space->size = base + allocation.size;
    for (const AssignedValue& value : allocation.values) {
      locations_[static_cast<size_t>(value.value)] = {static_cast<int32_t>(space - spaces_.begin()),
                                                      base + value.offset, value.size};
      // Where an assignment from elsewhere is wrong about its own size, the memory is still there.
      space->size = std::max(space->size, base + value.offset + value.size);
    }
  }
}

int64_t Placement::total() const {
  int64_t total = 0;
  for (const PlacedSpace& space : spaces_) total += space.size;
  return total;
}

}  // namespace hlosim
