// Keys of tables that remember costs: pointers to shapes and layouts of one pool, and numbers.
//
//   std::unordered_map<PointerKey, NodeCost, PointerKeyHash> known;
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace hlosim {

using PointerKey = std::vector<const void*>;

struct PointerKeyHash {
  size_t operator()(const PointerKey& key) const {
    Fnv1a hash;
    for (const void* part : key) hash.add_word(reinterpret_cast<uintptr_t>(part));
    return hash.value() ^ (hash.value() >> 29);  // the lowest bits of pointers are alike
  }
};

}  // namespace hlosim
