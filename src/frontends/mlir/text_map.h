// What a text stands for: an open table, keyed by texts that live elsewhere and by a number beside them.
//
//   TextMap<int> numbers;
//   numbers.at("one") = 1;                         // made with int{} at the first touch
//   numbers.find("two")                            // null
//
// Nothing is ever taken out. A pointer to a value holds until the next at().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace hlosim::mlir {

template <class V>
class TextMap {
 public:
  V* find(std::string_view key, uint32_t beside = 0) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[place(key, beside)];
    return slot.used ? &slot.value : nullptr;
  }
  const V* find(std::string_view key, uint32_t beside = 0) const {
    return const_cast<TextMap*>(this)->find(key, beside);
  }
  V& at(std::string_view key, uint32_t beside = 0) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[place(key, beside)];
    if (!slot.used) {
      slot = {key, beside, true, V{}};
      ++size_;
    }
    return slot.value;
  }

 private:
  struct Slot {
    std::string_view key;
    uint32_t beside = 0;
    bool used = false;
    V value{};
  };

  /// Where the key stands or would stand. Requires: a slot is free.
  size_t place(std::string_view key, uint32_t beside) const {
    const size_t mask = slots_.size() - 1;
    size_t i = WordHash(key.size()).add_word(beside).add_text(key).value() & mask;
    while (slots_[i].used && (slots_[i].beside != beside || slots_[i].key != key)) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.used) slots_[place(slot.key, slot.beside)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace hlosim::mlir
