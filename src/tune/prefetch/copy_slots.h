// Which copies of one direction fit beside the work of a region: every step offers its time, copies take it
// one after the other, in the order of their starts.
//
//   CopySlots slots({3, 5, 2});                     // steps of 3, 5 and 2 picoseconds
//   slots.add(0, 2, 6)                             // true: it is done before step 2
//   slots.add(0, 2, 3)                             // false: then one of the two wouldn't be
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hlosim {

class CopySlots {
 public:
  /// `offered`: time of each step.
  explicit CopySlots(std::vector<double> offered) : offered_(std::move(offered)) {}

  /// A copy that may use steps first … end - 1 and needs `time` of them: added, if all copies are still done
  /// in time.
  bool add(int32_t first, int32_t end, double time);
  void remove(int32_t first, int32_t end, double time);

  /// Most copies that are under way in one of the gaps from `first` to before `end`.
  int32_t under_way(int32_t first, int32_t end) const;
  /// With a copy from `first` to `end`, all copies are done in the order of their starts.
  bool in_order(int32_t first, int32_t end) const;

 private:
  struct Copy {
    int32_t first = 0, end = 0;
    double time = 0;
    int32_t done_step = 0;  // where the next copy goes on
    double done_left = 0;   // of that step
  };
  /// Goes through copies from number `from` on until nothing changes any more; false: one of them isn't done.
  bool assign_from(size_t from);

  std::vector<double> offered_;
  std::vector<Copy> copies_;  // by start
};

}  // namespace hlosim
