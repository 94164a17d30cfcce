// Membership in a short list, such as the dimensions that an instruction names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace hlosim {

inline bool contains(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace hlosim
