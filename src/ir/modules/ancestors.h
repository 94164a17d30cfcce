// What depends on what in a list of instructions.
//
//   const Ancestors ancestors(module, order, place);
//   ancestors.depends(place[user], place[producer])
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// Which instructions of a list each one depends on.
class Ancestors {
 public:
  /// Beyond this many the table would be too large, and everything counts as dependent.
  static constexpr size_t kMost = 20'000;

  Ancestors(const Module& module, const std::vector<InstructionId>& order,
            const IdMap<InstructionId, int32_t>& place)
      : words_((order.size() + 63) / 64) {
    if (order.size() > kMost) return;
    bits_.assign(order.size() * words_, 0);
    for (size_t i = 0; i < order.size(); ++i) {
      uint64_t* row = &bits_[i * words_];
      for (const InstructionId operand : module[order[i]].operands) {
        const auto j = static_cast<size_t>(place[operand]);
        const uint64_t* other = &bits_[j * words_];
        for (size_t w = 0; w < words_; ++w) row[w] |= other[w];
        row[j / 64] |= uint64_t{1} << (j % 64);
      }
    }
  }
  bool depends(int32_t user, int32_t on) const {
    if (bits_.empty()) return true;
    const auto row = static_cast<size_t>(user), column = static_cast<size_t>(on);
    return (bits_[row * words_ + column / 64] >> (column % 64)) & 1;
  }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

}  // namespace hlosim
