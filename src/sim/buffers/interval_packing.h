// Offsets for things that need memory for a time: best fit into the gaps that earlier ones leave.
//
//   const PackItem items[] = {{.size = 64, .start = 0, .end = 1, .group = 0},
//                             {.size = 64, .start = 2, .end = 3, .group = 1}};
//   pack_best(items, 64).size                      // 64: never needed at the same time
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hlosim {

/// Something that needs `size` bytes from `start` to `end`, both included.
struct PackItem {
  int64_t size = 0;
  int64_t start = 0, end = 0;
  int32_t group = -1;  // the item that this one lies with, at the same offset; its own number: none
  int64_t order = 0;   // decides between equals
  int64_t shift = 0;   // it lies so many bytes behind its group: a multiple of the alignment
};

struct Packing {
  std::vector<int64_t> offset;  // by item
  int64_t size = 0;             // of the whole, in bytes
};

enum class PackOrder : uint8_t {
  kSpatial,   // the largest first, of equal ones the one needed longest
  kTemporal,  // the one needed longest first, of equal ones the largest
};

/// Requires: start <= end, sizes >= 0, alignment > 0, groups point to items that are their own group.
/// O(n log n) where the heap has few gaps at any time; see taken_space.h.
Packing pack(std::span<const PackItem> items, int64_t alignment, PackOrder order);

/// The smaller one of both orders; the spatial one where they are equal.
Packing pack_best(std::span<const PackItem> items, int64_t alignment);

/// The most bytes needed at one time: what no packing can be smaller than. Items of one group that are needed
/// at the same time count once. Requires: no shifts.
int64_t peak_of(std::span<const PackItem> items);

}  // namespace hlosim
