// A value for each instruction of one computation: by number, without hashing.
//
//   ComputationMap<uint8_t> seen(graph.instructions(id));
//   seen[operand] = 1;
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// Numbers of a computation's instructions follow one another in a module that was read; where edits have
/// scattered them, they are found by halving.
template <class T>
class ComputationMap {
 public:
  explicit ComputationMap(std::span<const InstructionId> instructions) {
    if (instructions.empty()) return;
    const auto [first, last] = std::minmax_element(instructions.begin(), instructions.end());
    first_ = first->index;
    const auto range = static_cast<size_t>(last->index - first_) + 1;
    if (range > kMostRoom * instructions.size()) {
      for (const InstructionId id : instructions) scattered_.push_back(id.index);
      std::sort(scattered_.begin(), scattered_.end());
    }
    values_.resize(scattered_.empty() ? range : scattered_.size());
  }

  /// Requires: an instruction of the computation.
  T& operator[](InstructionId id) {
    if (scattered_.empty()) return values_[static_cast<size_t>(id.index - first_)];
    const auto at = std::lower_bound(scattered_.begin(), scattered_.end(), id.index);
    return values_[static_cast<size_t>(at - scattered_.begin())];
  }

 private:
  static constexpr size_t kMostRoom = 8;  // places for each instruction
  int32_t first_ = 0;
  std::vector<int32_t> scattered_;  // numbers in order; empty: there are few gaps between them
  std::vector<T> values_;
};

}  // namespace hlosim
