#include "buffers/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/rounding.h"
#include "buffers/assignment_order.h"
#include "buffers/busy_allocations.h"
#include "buffers/occupants.h"

namespace hlosim {
namespace {

class Assigner {
 public:
  Assigner(const Interference& interference, const AliasedBuffers& buffers, std::span<const int64_t> sizes,
           std::span<const int64_t> spaces, int64_t alignment)
      : interference_(interference),
        buffers_(buffers),
        values_(interference.values()),
        places_(interference.places()),
        module_(interference.graph().module()),
        sizes_(sizes),
        spaces_(spaces),
        alignment_(alignment),
        busy_(last_step() + 1) {
    out_.allocation_of.assign(values_.size(), -1);
    buffer_sizes_.assign(static_cast<size_t>(buffers.size()), 0);
    for (size_t i = 0; i < values_.size(); ++i) {
      int64_t& largest = buffer_sizes_[static_cast<size_t>(buffers.of(static_cast<ValueIndex>(i)))];
      largest = std::max(largest, sizes[i]);
    }
  }

  Result<Assignment> run() {
    const Result<AssignmentOrder> order = assignment_order(interference_.graph());
    if (!order) return tl::unexpected(order.error());
    assign(sorted_buffers(order->global), false);
    assign_heaps();
    assign(sorted_buffers(order->thread_local_ones), true);
    mark_outputs();
    combine_temporaries();
    for (Allocation& allocation : out_.allocations)
      std::sort(allocation.values.begin(), allocation.values.end(),
                [](const AssignedValue& a, const AssignedValue& b) { return a.value < b.value; });
    return std::move(out_);
  }

 private:
  int32_t last_step() const {
    int32_t last = 0;
    for (size_t i = 0; i < values_.size(); ++i)
      last = std::max(last, interference_.range(static_cast<ValueIndex>(i)).end);
    return last;
  }
  ShapeRef shape(ValueIndex value) const { return places_.shape(values_[value].defined); }
  int64_t size_of(BufferIndex buffer) const { return buffer_sizes_[static_cast<size_t>(buffer)]; }
  /// Decided by the first member, as its colour is.
  int64_t space_of(BufferIndex buffer) const {
    return spaces_[static_cast<size_t>(buffers_.values(buffer)[0])];
  }

  /// Large ones first, then outputs, then in the order of the instructions.
  std::vector<BufferIndex> sorted_buffers(const std::vector<RankedComputation>& computations) const {
    std::vector<int32_t> position(static_cast<size_t>(buffers_.size()), std::numeric_limits<int32_t>::max());
    std::vector<BufferIndex> found;
    for (const RankedComputation& computation : computations)
      for (size_t i = 0; i < computation.instructions.size(); ++i) {
        const Place top = places_.first(computation.instructions[i]);
        for (Place place = top; place < places_.end(top); ++place) {
          const ValueIndex value = values_.at(place);
          if (value == kNoValue || values_[value].defined != place) continue;
          int32_t& at = position[static_cast<size_t>(buffers_.of(value))];
          if (at == std::numeric_limits<int32_t>::max()) found.push_back(buffers_.of(value));
          at = std::min(at, computation.first_position + static_cast<int32_t>(i));
        }
      }
    std::sort(found.begin(), found.end(), [&](BufferIndex a, BufferIndex b) {
      const auto key = [&](BufferIndex buffer) {
        return std::tuple(-size_of(buffer), !buffers_.is_output(buffer),
                          position[static_cast<size_t>(buffer)], buffer);
      };
      return key(a) < key(b);
    });
    return found;
  }

  // ── one by one ────────────────────────────────────────────────
  void assign(const std::vector<BufferIndex>& sorted, bool thread_local_ones) {
    for (const BufferIndex buffer : sorted) {
      if (out_.allocation_of[static_cast<size_t>(buffers_.values(buffer)[0])] >= 0) continue;
      assign(buffer, thread_local_ones);
    }
  }

  void assign(BufferIndex buffer, bool is_thread_local) {
    const auto members = buffers_.values(buffer);
    const auto any = [&](auto&& test) { return std::any_of(members.begin(), members.end(), test); };
    if (any([&](ValueIndex v) { return dataflow(interference_.definer(v).opcode).is_constant; })) {
      add_allocation(buffer).is_constant = true;
      return;
    }
    const auto parameter = std::find_if(members.begin(), members.end(), [&](ValueIndex v) {
      const Instruction& definer = interference_.definer(v);
      return definer.parameter_number >= 0 && definer.parent == module_.entry;
    });
    if (parameter != members.end()) {
      Allocation& allocation = add_allocation(buffer, buffers_.is_donated(*parameter));
      allocation.parameter = interference_.definer(*parameter).parameter_number;
      allocation.parameter_index = places_.index(values_[*parameter].defined);
      return;
    }
    if (is_thread_local) {
      add_allocation(buffer).is_thread_local = true;
      return;
    }
    if (any([&](ValueIndex v) { return !interference_.range(v).known(); })) {
      add_allocation(buffer);
      return;
    }
    if (any([&](ValueIndex v) { return shape(v)->is_tuple(); })) {
      add_allocation(buffer).is_table = true;
      return;
    }
    if (reuse_operand(buffer) || reuse_any(buffer)) return;
    if (!buffers_.is_output(buffer)) {
      heap_values_[space_of(buffer)].insert(heap_values_[space_of(buffer)].end(), members.begin(),
                                            members.end());
      return;
    }
    add_allocation(buffer, true);
  }

  /// `shared`: other values may lie in it from now on.
  Allocation& add_allocation(BufferIndex buffer, bool shared = false) {
    const auto number = static_cast<int32_t>(out_.allocations.size());
    Allocation& allocation = out_.allocations.emplace_back();
    allocation.size = size_of(buffer);
    allocation.space = space_of(buffer);
    place(buffer, number);
    if (!shared) {
      busy_.add_always(number);
      return allocation;
    }
    occupants_.resize(static_cast<size_t>(number) + 1);
    occupants_.back().emplace();
    for (const AssignedValue& there : allocation.values) occupy(number, there.value);
    return allocation;
  }

  void occupy(int32_t number, ValueIndex value) {
    occupants_[static_cast<size_t>(number)]->add(interference_, value);
    if (const LiveRange& range = interference_.range(value); range.known())
      busy_.add(number, range);
    else
      busy_.add_always(number);
  }

  void place(BufferIndex buffer, int32_t allocation) {
    for (const ValueIndex value : buffers_.values(buffer)) place(value, allocation, 0, size_of(buffer));
  }
  void place(ValueIndex value, int32_t allocation, int64_t offset, int64_t bytes) {
    out_.allocation_of[static_cast<size_t>(value)] = allocation;
    out_.allocations[static_cast<size_t>(allocation)].values.push_back({value, offset, bytes});
  }

  bool reuse_operand(BufferIndex buffer) {
    for (const ValueIndex value : buffers_.values(buffer)) {
      if (places_.part(values_[value].defined) != 0) continue;
      for (const InstructionId operand : interference_.definer(value).operands) {
        const ValueIndex before = values_.at(places_.first(operand));
        if (before == kNoValue) continue;
        const int32_t allocation = out_.allocation_of[static_cast<size_t>(before)];
        if (allocation >= 0 && reuse(buffer, allocation)) return true;
      }
    }
    return false;
  }

  /// The last allocation that has room. Large buffers come first: behind one that is too large for an output
  /// there is none of its size.
  bool reuse_any(BufferIndex buffer) {
    std::vector<LiveRange> ranges;
    for (const ValueIndex value : buffers_.values(buffer)) ranges.push_back(interference_.range(value));
    bool found = false;
    busy_.find_free(ranges, static_cast<int32_t>(out_.allocations.size()), [&](int32_t number) {
      found = reuse(buffer, number);
      return found || (buffers_.is_output(buffer) && size_at(number) > size_of(buffer));
    });
    return found;
  }
  int64_t size_at(int32_t allocation) const { return out_.allocations[static_cast<size_t>(allocation)].size; }

  bool reuse(BufferIndex buffer, int32_t number) {
    const auto n = static_cast<size_t>(number);
    if (n >= occupants_.size() || !occupants_[n]) return false;
    const Allocation& allocation = out_.allocations[n];
    const int64_t bytes = size_of(buffer);
    if (allocation.space != space_of(buffer) || bytes > allocation.size) return false;
    if (buffers_.is_output(buffer) && bytes != allocation.size) return false;
    for (const ValueIndex value : buffers_.values(buffer))
      if (occupants_[n]->interfere(interference_, value) || is_copied_from(value, number)) return false;
    place(buffer, number);
    for (const ValueIndex value : buffers_.values(buffer)) occupy(number, value);
    return true;
  }

  /// `value` is a copy of something that lies in the allocation.
  bool is_copied_from(ValueIndex value, int32_t number) const {
    const Instruction& definer = interference_.definer(value);
    if (!dataflow(definer.opcode).is_copy) return false;
    for (const InstructionId operand : definer.operands) {
      const Place top = places_.first(operand);
      for (Place place = top; place < places_.end(top); ++place)
        if (const ValueIndex source = values_.at(place);
            source != kNoValue && values_[source].defined == place &&
            out_.allocation_of[static_cast<size_t>(source)] == number)
          return true;
    }
    return false;
  }

  // ── the rest at once ──────────────────────────────────────────
  void assign_heaps() {
    for (auto& [space, members] : heap_values_) {
      const Heap heap = simulate_heap(interference_, buffers_, members, sizes_, alignment_);
      Allocation& allocation = out_.allocations.emplace_back();
      allocation.size = heap.size;
      out_.heap_fragmentation = out_.heap_fragmentation.value_or(0) + heap.size - heap.peak;
      allocation.space = space;
      for (const HeapPlace& at : heap.places)
        place(at.value, static_cast<int32_t>(out_.allocations.size()) - 1, at.offset, at.size);
    }
  }

  void mark_outputs() {
    for (BufferIndex buffer = 0; buffer < buffers_.size(); ++buffer) {
      if (!buffers_.is_output(buffer)) continue;
      for (const ValueIndex value : buffers_.values(buffer))
        if (const int32_t at = out_.allocation_of[static_cast<size_t>(value)]; at >= 0)
          out_.allocations[static_cast<size_t>(at)].is_output = true;
    }
  }

  /// All temporary memory of a space end to end. What isn't temporary comes first; the first temporary one
  /// from the left changes places with the last other one from the right, until none is left.
  void combine_temporaries() {
    std::vector<Allocation>& all = out_.allocations;
    size_t left = 0, right = all.size();
    while (true) {
      while (left < right && !all[left].is_temporary()) ++left;
      while (left < right && all[right - 1].is_temporary()) --right;
      if (left >= right) break;
      std::swap(all[left++], all[--right]);
    }
    std::vector<Allocation> kept(std::make_move_iterator(all.begin()),
                                 std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(left)));
    std::map<int64_t, size_t> combined;
    for (size_t i = left; i < all.size(); ++i) {
      const auto [entry, is_first] = combined.try_emplace(all[i].space, kept.size());
      if (is_first) {
        kept.push_back(std::move(all[i]));
        continue;
      }
      Allocation& target = kept[entry->second];
      const int64_t base = round_up(target.size, alignment_);
      for (const AssignedValue& value : all[i].values)
        target.values.push_back({value.value, base + value.offset, value.size});
      target.size = base + all[i].size;
      target.is_table &= all[i].is_table;
    }
    all = std::move(kept);
    for (size_t i = 0; i < all.size(); ++i)
      for (const AssignedValue& value : all[i].values)
        out_.allocation_of[static_cast<size_t>(value.value)] = static_cast<int32_t>(i);
  }

  const Interference& interference_;
  const AliasedBuffers& buffers_;
  const Values& values_;
  const Places& places_;
  const Module& module_;
  std::span<const int64_t> sizes_, spaces_;
  int64_t alignment_;
  std::vector<int64_t> buffer_sizes_;
  Assignment out_;
  std::vector<std::optional<Occupants>> occupants_;         // by allocation; those that may be shared
  BusyAllocations busy_;                                    // the others are in use at all times
  std::map<int64_t, std::vector<ValueIndex>> heap_values_;  // by space
};

}  // namespace

int64_t Assignment::total() const {
  int64_t total = 0;
  for (const Allocation& allocation : allocations) total += allocation.size;
  return total;
}

Result<Assignment> assign_buffers(const Interference& interference, const AliasedBuffers& buffers,
                                  std::span<const int64_t> sizes, std::span<const int64_t> spaces,
                                  int64_t alignment) {
  return Assigner(interference, buffers, sizes, spaces, alignment).run();
}

}  // namespace hlosim
