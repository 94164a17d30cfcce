// Which allocation every value of a module gets, as XLA's buffer assignment decides it.
//
//   for (const Allocation& allocation : assignment.allocations)
//     if (allocation.is_temporary()) temporary += allocation.size;
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "buffers/heap_simulation.h"

namespace hlosim {

struct AssignedValue {
  ValueIndex value = kNoValue;
  int64_t offset = 0, size = 0;  // bytes, offset from the start of the allocation
};

/// One contiguous piece of memory.
struct Allocation {
  int64_t size = 0;
  int64_t space = 0;       // S(n) of all values in it
  int64_t parameter = -1;  // of the entry
  std::vector<int64_t> parameter_index;
  bool is_constant = false;
  bool is_thread_local = false;  // of a computation that runs once per element
  bool is_output = false;
  bool is_table = false;              // pointers of a tuple
  std::vector<AssignedValue> values;  // by number

  bool is_temporary() const { return parameter < 0 && !is_constant && !is_thread_local && !is_output; }
};

struct Assignment {
  std::vector<Allocation> allocations;
  std::vector<int32_t> allocation_of;  // by value; -1: none (bodies of fusions, dead code)
  /// What temporary memory takes beyond the most bytes that are in it at one time; absent: no value is in it
  /// that shares. Tables don't count.
  std::optional<int64_t> heap_fragmentation;
  int64_t total() const;  // bytes of all allocations
};

/// `sizes` and `spaces` by value. Errors: a computation that is run both as control flow and once per
/// element.
Result<Assignment> assign_buffers(const Interference& interference, const AliasedBuffers& buffers,
                                  std::span<const int64_t> sizes, std::span<const int64_t> spaces,
                                  int64_t alignment);

}  // namespace hlosim
