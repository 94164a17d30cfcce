#include "algorithms/random_bits.h"

#include <algorithm>
#include <bit>

namespace hlosim {

std::array<uint32_t, 4> philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  auto x0 = static_cast<uint32_t>(counter_low), x1 = static_cast<uint32_t>(counter_low >> 32);
  auto x2 = static_cast<uint32_t>(counter_high), x3 = static_cast<uint32_t>(counter_high >> 32);
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x0, p1 = uint64_t{0xCD9E8D57} * x2;
    const uint32_t y0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0,
                   y2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x0 = y0, x1 = static_cast<uint32_t>(p1), x2 = y2, x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return {x0, x1, x2, x3};
}

uint64_t threefry2x32(uint64_t key, uint64_t counter) {
  const auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDA};
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t x0 = static_cast<uint32_t>(counter) + keys[0], x1 = static_cast<uint32_t>(counter >> 32) + keys[1];
  for (uint32_t i = 1; i <= 5; ++i) {
    for (const int rotation : kRotations[(i - 1) % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[i % 3];
    x1 += keys[(i + 1) % 3] + i;
  }
  return x0 | uint64_t{x1} << 32;
}

void philox_words(uint64_t key, std::array<uint64_t, 2> counter, int64_t begin, int64_t count,
                  uint32_t* out) {
  for (int64_t at = 0; at < count; at += 4) {
    const auto at_block = advanced(counter, static_cast<uint64_t>((begin + at) / 4));
    const auto words = philox4x32(key, at_block[0], at_block[1]);
    std::copy_n(words.begin(), std::min<int64_t>(4, count - at), out + at);
  }
}

}  // namespace hlosim
