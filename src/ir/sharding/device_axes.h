// The devices of a program as an array whose axes are as short as can be (prime), so that every regular
// sharding cuts dimensions by whole axes.
//
//   const DeviceAxes axes(12);                     // 2 x 2 x 3, the last one counts fastest
//   axes.length({0, 1})                            // 4
//   axes.coordinate(7, 2)                          // 1: device 7 = (1, 0, 1)
//
// Places in that array are counted row-major; which device stands where is `device_at`, the identity unless
// most of a module's shardings list their devices in another order (a mesh laid over a torus).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharding/tile_assignment.h"

namespace hlosim {

using AxisList = std::vector<int>;  // major to minor
using AxisSet = uint32_t;           // bit i: axis i

class DeviceAxes {
 public:
  /// Requires: 1 <= devices <= 2^24.
  explicit DeviceAxes(int64_t devices);
  /// Such that as many of `shardings` as can be cut by whole axes; those for another number of devices don't
  /// count.
  DeviceAxes(int64_t devices, std::span<const TileAssignment> shardings);

  int64_t devices() const { return devices_; }
  int count() const { return static_cast<int>(sizes_.size()); }
  int64_t size(int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  /// Places between neighbours along the axis.
  int64_t stride(int axis) const { return strides_[static_cast<size_t>(axis)]; }
  AxisSet all() const { return (AxisSet{1} << count()) - 1; }

  /// Product of the sizes.
  int64_t length(const AxisList& list) const;
  int64_t length(AxisSet set) const;
  int64_t coordinate(int64_t place, int axis) const { return place / stride(axis) % size(axis); }
  /// The coordinates along `list` as one number.
  int64_t index(int64_t place, const AxisList& list) const;

  bool in_order() const { return device_at_.empty(); }
  int64_t device_at(int64_t place) const {
    return in_order() ? place : device_at_[static_cast<size_t>(place)];
  }
  int64_t place_of(int64_t device) const {
    return in_order() ? device : place_of_[static_cast<size_t>(device)];
  }

  /// The axes that count by `stride` places up to `size` of them, major to minor; empty when the axes don't
  /// say so, or size is 1.
  AxisList axes_of(int64_t stride, int64_t size) const;

 private:
  void cut(const std::vector<int64_t>& strides);

  int64_t devices_ = 1;
  std::vector<int64_t> sizes_, strides_;
  std::vector<int64_t> device_at_, place_of_;  // empty: in order
};

AxisSet set_of(const AxisList& list);
/// In ascending order.
AxisList list_of(AxisSet set);

}  // namespace hlosim
