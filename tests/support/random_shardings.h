// Random shardings of arrays over a number of devices.
//
//   test::RandomShardings shardings(8, seed);
//   shardings.next(2)  // "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hlosim::test {

/// On `devices` devices, transposed somehow, with copies.
class RandomShardings {
 public:
  RandomShardings(int64_t devices, uint32_t seed) : random_(seed) {
    for (int64_t prime = 2; devices > 1; ++prime)
      for (; devices % prime == 0; devices /= prime) primes_.push_back(prime);
  }

  /// 0 … count - 1.
  uint32_t number(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  /// Of an array of `rank` dimensions.
  std::string next(size_t rank) {
    std::vector<int64_t> tiles(rank + 1, 1), reshape = primes_, order;
    for (const int64_t prime : primes_) tiles[random_() % (rank + 1)] *= prime;
    std::shuffle(reshape.begin(), reshape.end(), random_);
    for (size_t i = 0; i < reshape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    std::shuffle(order.begin(), order.end(), random_);
    const std::string transposed = order.size() > 1 ? fmt::format("T({})", fmt::join(order, ",")) : "";
    return fmt::format("{{devices=[{}]<=[{}]{} last_tile_dim_replicate}}", fmt::join(tiles, ","),
                       fmt::join(reshape, ","), transposed);
  }

 private:
  std::mt19937 random_;
  std::vector<int64_t> primes_;
};

}  // namespace hlosim::test
