// Random numbers that are the same everywhere.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace hlosim::test {

/// splitmix64.
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : state_(seed) { state_ = bits() ^ (seed << 32); }

  uint64_t bits() {
    uint64_t x = state_ += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  /// In [0, 1).
  double real() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return real() < probability; }
  /// An index, index i with probability weights[i] / sum.
  size_t weighted(std::initializer_list<int> weights) {
    int64_t sum = 0;
    for (const int weight : weights) sum += weight;
    int64_t at = between(0, sum - 1);
    size_t i = 0;
    for (const int weight : weights) {
      if (at < weight) return i;
      at -= weight;
      ++i;
    }
    return 0;
  }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<size_t>(between(0, static_cast<int64_t>(values.size()) - 1))];
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + between(0, static_cast<int64_t>(values.size()) - 1));
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(between(0, static_cast<int64_t>(i) - 1))]);
  }

 private:
  uint64_t state_;
};

}  // namespace hlosim::test
