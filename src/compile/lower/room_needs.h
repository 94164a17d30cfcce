// How much room in on-chip memory the decisions of lowering need: with less than that, but no less than it,
// every one of them is the same.
//
//   RoomNeeds needs(large.config);
//   if (needs.vmem(large.config).holds(bytes)) …
//   if (needs.same_with(small.config)) …           // what came out so far is what comes out there
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lower/on_chip.h"
#include "model/device.h"

namespace hlosim {

/// Room of an on-chip space that notes the most that it was found to hold. What doesn't fit needs no note: it
/// doesn't fit into less either.
class Room {
 public:
  /// Holds everything, and notes nothing.
  Room() = default;
  /// `needed` is raised, if there is one; it outlives the object.
  Room(int64_t bytes, int64_t* needed) : bytes_(bytes), needed_(needed) {}

  bool holds(int64_t bytes) const {
    if (bytes > bytes_) return false;
    if (needed_) *needed_ = std::max(*needed_, bytes);
    return true;
  }

 private:
  int64_t bytes_ = std::numeric_limits<int64_t>::max();
  int64_t* needed_ = nullptr;
};

/// Of all on-chip spaces of a device, by what was decided for that device. Rooms of other devices are
/// compared with those that it had when the object was made. Below 0 is 0.
class RoomNeeds {
 public:
  explicit RoomNeeds(const DeviceConfig& device);

  /// on_chip_memory(). What happens with it needs the same space, with room for anything at all.
  OnChip home(const DeviceConfig& device);
  /// Room of the space that home() would give.
  Room largest(const DeviceConfig& device);
  /// vmem_room().
  Room vmem(const DeviceConfig& device);

  /// A decision needs so many bytes of room in S(space). More than there are: less room may change it.
  void needs(int64_t space, int64_t bytes);
  /// Any other room may change what was decided.
  void needs_all();
  /// Requires: made for the same device.
  void add(const RoomNeeds& other);

  /// Of the same decisions where they were made with the room of `device`. Requires: same_with(device).
  RoomNeeds with(const DeviceConfig& device) const;

  /// Every decision would be the same on the device that this was made for with the room of `device`.
  bool same_with(const DeviceConfig& device) const;

 private:
  struct Space {
    int64_t number = 0, room = 0, needed = 0;
  };
  int64_t* needed(int64_t space);

  std::vector<Space> spaces_;
  int64_t home_ = -1;  // S(n) of home(); -1: nobody asked, or there was none
};

}  // namespace hlosim
