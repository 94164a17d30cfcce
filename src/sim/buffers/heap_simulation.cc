#include "buffers/heap_simulation.h"

#include <algorithm>
#include <tuple>

#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

class HeapSimulation {
 public:
  HeapSimulation(const Interference& interference, const AliasedBuffers& buffers,
                 std::span<const ValueIndex> values, std::span<const int64_t> sizes, int64_t alignment)
      : interference_(interference),
        buffers_(buffers),
        sizes_(sizes),
        alignment_(alignment),
        item_of_(interference.values().size(), -1),
        placed_member_(static_cast<size_t>(buffers.size()), -1),
        values_(values.begin(), values.end()) {
    std::sort(values_.begin(), values_.end(), [&](ValueIndex a, ValueIndex b) {
      const LiveRange &x = range(a), &y = range(b);
      return std::tuple(x.start, x.end, a) < std::tuple(y.start, y.end, b);
    });
    for (size_t i = 0; i < values_.size(); ++i)
      item_of_[static_cast<size_t>(values_[i])] = static_cast<int32_t>(i);
    items_.resize(values_.size());
    is_freed_.assign(values_.size(), 0);
    by_end_.resize(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) by_end_[i] = i;
    std::stable_sort(by_end_.begin(), by_end_.end(),
                     [&](size_t a, size_t b) { return range(values_[a]).end < range(values_[b]).end; });
  }

  std::vector<PackItem> run() {
    size_t next = 0, ending = 0;
    while (ending < by_end_.size()) {
      const int32_t frees = range(values_[by_end_[ending]]).end;
      if (next < values_.size() && range(values_[next]).start <= frees) {
        const int32_t step = range(values_[next]).start;
        for (; next < values_.size() && range(values_[next]).start == step; ++next) allocate(next);
        // What ends before the next thing starts; sharing has no say in when it does.
        continue_frees(ending, step);
        continue;
      }
      continue_frees(ending, frees);
    }
    return std::move(items_);
  }

  int64_t peak() const { return peak_; }
  const std::vector<ValueIndex>& values() const { return values_; }

 private:
  const LiveRange& range(ValueIndex value) const { return interference_.range(value); }

  void continue_frees(size_t& ending, int32_t step) {
    for (; ending < by_end_.size() && range(values_[by_end_[ending]]).end <= step; ++ending)
      free(by_end_[ending]);
  }

  void allocate(size_t i) {
    const ValueIndex value = values_[i];
    free_slices(value, i);
    int32_t& member = placed_member_[static_cast<size_t>(buffers_.of(value))];
    int32_t shares = member;
    if (shares < 0) shares = operand_to_take_over(value);
    PackItem& item = items_[i];
    item.size = sizes_[static_cast<size_t>(value)];
    item.order = interference_.values()[value].number;
    item.group = shares < 0 ? static_cast<int32_t>(i) : items_[static_cast<size_t>(shares)].group;
    item.start = clock_;
    if (item.size > 0) ++clock_;
    if (member < 0) member = static_cast<int32_t>(i);
    now_ += item.size;
    peak_ = std::max(peak_, now_);
  }

  void free(size_t i) {
    if (is_freed_[i]) return;
    is_freed_[i] = 1;
    items_[i].end = std::max(clock_, items_[i].start);
    if (items_[i].size > 0) ++clock_;
    now_ -= items_[i].size;
  }

  /// What joins slices lies where they lie, side by side; they are freed before its place is taken.
  void free_slices(ValueIndex value, size_t i) {
    const Instruction& join = interference_.definer(value);
    if (!interference_.takes_over_temporaries() || !is_concat_bitcast(join) ||
        buffers_.values(buffers_.of(value)).size() != 1)
      return;
    std::vector<int32_t> slices;
    int64_t bytes = 0;
    for (const InstructionId operand : join.operands) {
      const ValueIndex slice = interference_.values().at(interference_.places().first(operand));
      const int32_t item = slice == kNoValue ? -1 : item_of_[static_cast<size_t>(slice)];
      if (item < 0 || is_freed_[static_cast<size_t>(item)] || range(slice).end != range(value).start ||
          buffers_.values(buffers_.of(slice)).size() != 1)
        return;
      const PackItem& place = items_[static_cast<size_t>(item)];
      if (place.group != item || place.size % alignment_ != 0) return;
      slices.push_back(item);
      bytes += items_[static_cast<size_t>(item)].size;
    }
    if (bytes != sizes_[static_cast<size_t>(value)]) return;
    bytes = 0;
    for (const int32_t item : slices) {
      PackItem& slice = items_[static_cast<size_t>(item)];
      free(static_cast<size_t>(item));
      slice.group = static_cast<int32_t>(i), slice.shift = bytes;
      bytes += slice.size;
    }
  }

  /// The first operand that ends right here and may be written over; freed before its place is taken.
  int32_t operand_to_take_over(ValueIndex value) {
    if (!interference_.takes_over_temporaries() || buffers_.values(buffers_.of(value)).size() != 1) return -1;
    const Values& values = interference_.values();
    const Places& places = interference_.places();
    for (const InstructionId operand : interference_.definer(value).operands) {
      const ValueIndex before = values.at(places.first(operand));
      if (before == kNoValue || buffers_.values(buffers_.of(before)).size() != 1) continue;
      const int32_t item = item_of_[static_cast<size_t>(before)];
      if (item < 0 || is_freed_[static_cast<size_t>(item)] || range(before).end != range(value).start)
        continue;
      if (range(before).start > range(value).start || !interference_.takes_over_directly(value, before))
        continue;
      free(static_cast<size_t>(item));
      return item;
    }
    return -1;
  }

  const Interference& interference_;
  const AliasedBuffers& buffers_;
  std::span<const int64_t> sizes_;
  int64_t alignment_;
  std::vector<int32_t> item_of_;        // by value
  std::vector<int32_t> placed_member_;  // by buffer
  std::vector<ValueIndex> values_;      // by item
  std::vector<size_t> by_end_;          // items
  std::vector<uint8_t> is_freed_;
  std::vector<PackItem> items_;
  int64_t clock_ = 0, now_ = 0, peak_ = 0;
};

}  // namespace

Heap simulate_heap(const Interference& interference, const AliasedBuffers& buffers,
                   std::span<const ValueIndex> values, std::span<const int64_t> sizes, int64_t alignment) {
  HeapSimulation simulation(interference, buffers, values, sizes, alignment);
  const std::vector<PackItem> items = simulation.run();
  const Packing packing = pack_best(items, alignment);
  Heap heap;
  heap.size = packing.size;
  heap.peak = simulation.peak();
  for (size_t i = 0; i < items.size(); ++i)
    heap.places.push_back({simulation.values()[i], packing.offset[i], items[i].size});
  return heap;
}

int64_t least_bytes(const Interference& interference, const AliasedBuffers& buffers,
                    std::span<const int64_t> sizes) {
  std::vector<ValueIndex> scheduled;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (const auto value = static_cast<ValueIndex>(i);
        interference.range(value).known() && !dataflow(interference.definer(value).opcode).is_constant)
      scheduled.push_back(value);
  HeapSimulation simulation(interference, buffers, scheduled, sizes, 1);
  simulation.run();
  return simulation.peak();
}

}  // namespace hlosim
