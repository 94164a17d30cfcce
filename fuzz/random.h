// Random choices that depend on nothing but a number.
//
//   Random random(seed);
//   if (random.one_in(3)) word = random.pick(words);
//   random.fork("report")                          // independent of what is drawn here afterwards
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace hlosim::fuzz {

class Random {
 public:
  explicit Random(uint64_t state) : state_(state) {}

  /// SplitMix64.
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 where `count` is.
  size_t below(size_t count) { return count == 0 ? 0 : static_cast<size_t>(next() % count); }
  bool one_in(size_t count) { return below(count) == 0; }
  /// Requires: not empty.
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  template <class T, size_t N>
  const T& pick(const T (&values)[N]) {
    return values[below(N)];
  }
  Random fork(std::string_view purpose) const {
    return Random(Fnv1a().add_word(state_).add_text(purpose).value());
  }

 private:
  uint64_t state_;
};

}  // namespace hlosim::fuzz
