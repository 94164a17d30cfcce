// Temporary memory of a whole module: what is allocated and freed when, what shares, where everything lies.
//
//   const Heap heap = simulate_heap(interference, buffers, temporaries, sizes, 64);
//   heap.size - heap.peak                          // lost between things
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffers/interval_packing.h"
#include "memory/interference.h"

namespace hlosim {

struct HeapPlace {
  ValueIndex value = kNoValue;
  int64_t offset = 0, size = 0;
};

struct Heap {
  std::vector<HeapPlace> places;
  int64_t size = 0;
  int64_t peak = 0;  // most bytes at one time; the rest of `size` is fragmentation
};

/// Runs through the schedule: at each step what starts there is allocated, then what ends there is freed.
/// Values of one buffer share; so does a value with an operand that ends where it starts and that it may
/// overwrite. Then all of it is packed. `sizes` by value.
Heap simulate_heap(const Interference& interference, const AliasedBuffers& buffers,
                   std::span<const ValueIndex> values, std::span<const int64_t> sizes, int64_t alignment);

/// Most bytes at one time when everything but constants is allocated and freed like this.
int64_t least_bytes(const Interference& interference, const AliasedBuffers& buffers,
                    std::span<const int64_t> sizes);

}  // namespace hlosim
