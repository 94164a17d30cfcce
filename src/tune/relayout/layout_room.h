// Whether a module with other layouts fits into the device's memory, without a look at live ranges: it needs
// at most what the given one needs, and what arrays have grown by, and what copies take.
//
//   const LayoutRoom room(problem, table, device.config, memory_occupancy(given, …));
//   costs.apply(choice);
//   if (room.surely_fits()) …                      // else an occupancy analysis says
#pragma once

#include <map>

#include "memory/occupancy.h"
#include "relayout/layout_problem.h"

namespace hlosim {

class LayoutRoom {
 public:
  /// `given`: the occupancy of the module as given, which has no more than the device allows, or else as much
  /// as is allowed from then on. Requires: nothing is written into the problem's module.
  LayoutRoom(LayoutProblem& problem, const OpTable& table, const DeviceConfig& device,
             const Occupancy& given);

  /// Of the occupancy of a module with other layouts.
  bool fits(const Occupancy& occupancy) const;
  /// Of the problem's module as it is now. False: it may fit or not.
  bool surely_fits() const;
  /// Bytes by space: doubles, exact up to 9 PB, and no overflow beyond.
  using BySpace = std::map<int64_t, double>;
  /// What the problem's module needs at most, as it is now.
  BySpace at_most() const;

 private:
  static BySpace most_at_once(const Occupancy& occupancy);
  Bytes allowed(int64_t space) const;
  void add_growth(InstructionId id, BySpace& needed) const;

  LayoutProblem& problem_;
  const OpTable& table_;
  const DeviceConfig& device_;
  bool is_known_;                   // the given module's memory is
  std::map<int64_t, Bytes> peaks_;  // by space, of the module as given
  BySpace most_;                    // the same if nothing were written over anything
  /// How an instruction's results may come to need memory of their own with other layouts.
  enum class Growth : uint8_t {
    kBySize,   // only as they grow
    kRelay,    // a copy that stands where something changes
    kBitcast,  // one that becomes a reshape or a transpose
    kInPlace,  // a fusion that may not work in place with another body
  };
  IdMap<InstructionId, Growth> growth_;
};

}  // namespace hlosim
