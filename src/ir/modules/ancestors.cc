#include "modules/ancestors.h"

#include <algorithm>

namespace hlosim {

Ancestors::Ancestors(std::span<const size_t> first_operand, std::span<const int32_t> operands,
                     size_t most_bits)
    : first_operand_(first_operand), operands_(operands) {
  const size_t count = first_operand.size() - 1;
  words_ = std::min((count + 63) / 64, most_bits / 64 / std::max<size_t>(count, 1) + 1);
  bits_.assign(count * words_, 0);
  for (size_t i = 0; i < count; ++i) {
    const auto place = static_cast<int32_t>(i);
    const size_t begin = begin_of(place);
    uint64_t* const row = &bits_[i * words_];
    for (const int32_t operand : operands_of(place)) {
      const auto j = static_cast<size_t>(operand);
      const size_t other_begin = begin_of(operand);
      const uint64_t* const other = &bits_[j * words_];
      for (size_t word = std::max(begin, other_begin); word <= j / 64; ++word)
        row[word - begin] |= other[word - other_begin];
      if (j / 64 >= begin) row[j / 64 - begin] |= uint64_t{1} << (j % 64);
    }
  }
}

bool Ancestors::is_found(int32_t user, int32_t on) const {
  seen_.resize(first_operand_.size());
  ++search_;
  std::vector<int32_t> open{user};
  while (!open.empty()) {
    const int32_t next = open.back();
    open.pop_back();
    for (const int32_t operand : operands_of(next)) {
      if (operand == on) return true;
      if (operand < on || seen_[static_cast<size_t>(operand)] == search_) continue;
      seen_[static_cast<size_t>(operand)] = search_;
      if (++steps_ > kMostSteps) return true;
      if (static_cast<size_t>(on) / 64 < begin_of(operand))
        open.push_back(operand);
      else if (depends(operand, on))
        return true;
    }
  }
  return false;
}

}  // namespace hlosim
