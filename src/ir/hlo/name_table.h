// Names of one scope → ids. Cleared in O(1), because a module may have tens of thousands of
// computations, each with its own names.
//
//   NameTable names;
//   names.add("x", 0)                              // true
//   *names.find("x")                               // 0; null for a name that isn't there
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace hlosim {

class NameTable {
 public:
  NameTable() : slots_(64) {}

  void clear() {
    ++generation_;
    size_ = 0;
  }
  /// The id of `name`, or null.
  const int32_t* find(std::string_view name) const {
    const uint32_t hash = hash_of(name);
    for (size_t at = hash & (slots_.size() - 1); slots_[at].generation == generation_;
         at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == hash && slots_[at].name == name) return &slots_[at].id;
    return nullptr;
  }
  /// The name will be looked for: its place comes into the cache meanwhile, which is a part of reading that
  /// counts.
  void expect(std::string_view name) const {
    __builtin_prefetch(&slots_[hash_of(name) & (slots_.size() - 1)]);
  }
  /// False when the name was there already.
  bool add(std::string_view name, int32_t id) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    return insert({name, hash_of(name), id, generation_});
  }

 private:
  struct Slot {
    std::string_view name;
    uint32_t hash = 0;
    int32_t id = 0;
    uint32_t generation = 0;
  };

  static uint32_t hash_of(std::string_view name) { return static_cast<uint32_t>(text_hash(name)); }
  bool insert(const Slot& slot) {
    size_t at = slot.hash & (slots_.size() - 1);
    for (; slots_[at].generation == generation_; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == slot.hash && slots_[at].name == slot.name) return false;
    slots_[at] = slot;
    ++size_;
    return true;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old)
      if (slot.generation == generation_) insert(slot);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
  uint32_t generation_ = 1;
};

}  // namespace hlosim
