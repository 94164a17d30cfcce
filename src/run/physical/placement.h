// Where each value of an analysed module lies: the allocations of each memory space laid end to end.
//
//   const Placement placement(*analysis);
//   const Location& at = placement.of(value);   // bytes at.start to at.end() of placement.spaces()[at.image]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffers/buffer_analysis.h"

namespace hlosim {

struct Location {
  int32_t image = -1;           // into Placement::spaces(); -1: nowhere
  int64_t start = 0, size = 0;  // bytes of that space
  int64_t end() const { return start + size; }
  bool operator==(const Location&) const = default;
};

struct PlacedSpace {
  int64_t space = 0;  // n of S(n)
  int64_t size = 0;   // bytes that the allocations take
};

class Placement {
 public:
  /// Values of computations that run once per element lie nowhere.
  explicit Placement(const BufferAnalysis& analysis);

  const Location& of(ValueIndex value) const { return locations_[static_cast<size_t>(value)]; }
  std::span<const PlacedSpace> spaces() const { return spaces_; }
  int64_t total() const;

 private:
  std::vector<Location> locations_;
  std::vector<PlacedSpace> spaces_;
};

}  // namespace hlosim
