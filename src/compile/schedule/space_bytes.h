// Bytes of each memory space, for the limits of schedules.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace hlosim {

/// Bytes by memory space S(n).
struct SpaceBytes {
  static constexpr size_t kCount = 4;  // further ones are not followed
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;
  std::array<int64_t, kCount> bytes{};
  int64_t& operator[](size_t space) { return bytes[space]; }
  int64_t operator[](size_t space) const { return bytes[space]; }
  SpaceBytes& operator+=(const SpaceBytes& more) {
    for (size_t i = 0; i < kCount; ++i) bytes[i] += more[i];
    return *this;
  }
  SpaceBytes& operator-=(const SpaceBytes& less) {
    for (size_t i = 0; i < kCount; ++i) bytes[i] -= less[i];
    return *this;
  }
  void raise_to(const SpaceBytes& other) {
    for (size_t i = 0; i < kCount; ++i) bytes[i] = std::max(bytes[i], other[i]);
  }
};

}  // namespace hlosim
