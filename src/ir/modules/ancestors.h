// What depends on what in a list in which operands stand before their users.
//
//   const Ancestors ancestors(first_operand, operands);
//   ancestors.depends(user, producer)   // places in the list
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hlosim {

/// Which instructions of a list each one depends on. A table has the answers for what is near enough in the
/// list; what is farther is searched for.
class Ancestors {
 public:
  /// Bits of the table: all pairs of 20,000 instructions.
  static constexpr size_t kMostBits = 400'000'000;
  /// Of all searches together. From there on what is too far for the table counts as dependent.
  static constexpr int64_t kMostSteps = 1'000'000'000;

  Ancestors() = default;
  /// Operands of i are at first_operand[i] to first_operand[i + 1] of `operands`, which outlive this.
  Ancestors(std::span<const size_t> first_operand, std::span<const int32_t> operands,
            size_t most_bits = kMostBits);

  /// `on` is an operand of `user`, of one of its operands, and so on.
  bool depends(int32_t user, int32_t on) const {
    if (on >= user) return false;
    const size_t begin = begin_of(user);
    const auto column = static_cast<size_t>(on);
    if (column / 64 < begin) return is_found(user, on);
    const size_t word = static_cast<size_t>(user) * words_ + column / 64 - begin;
    return (bits_[word] >> (column % 64)) & 1;
  }

 private:
  /// The first word of the list's bits that the row of `place` has.
  size_t begin_of(int32_t place) const {
    const size_t end = static_cast<size_t>(place) / 64 + 1;
    return end > words_ ? end - words_ : 0;
  }
  std::span<const int32_t> operands_of(int32_t place) const {
    const auto i = static_cast<size_t>(place);
    return operands_.subspan(first_operand_[i], first_operand_[i + 1] - first_operand_[i]);
  }
  bool is_found(int32_t user, int32_t on) const;

  std::span<const size_t> first_operand_;
  std::span<const int32_t> operands_;
  size_t words_ = 0;  // of a row
  std::vector<uint64_t> bits_;
  mutable std::vector<uint32_t> seen_;  // by place: the search that came by
  mutable uint32_t search_ = 0;
  mutable int64_t steps_ = 0;
};

}  // namespace hlosim
