// Counter-based random bits: element i depends on the key, the counter and i only.
#pragma once

#include <array>
#include <cstdint>

namespace hlosim {

/// Philox 4x32, 10 rounds: four random words of a 128-bit counter.
std::array<uint32_t, 4> philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high);

/// Threefry 2x32, 20 rounds: two random words (the first in the low half) of a 64-bit counter.
uint64_t threefry2x32(uint64_t key, uint64_t counter);

/// 128-bit counter {low, high} + n.
constexpr std::array<uint64_t, 2> advanced(std::array<uint64_t, 2> counter, uint64_t n) {
  const uint64_t low = counter[0] + n;
  return {low, counter[1] + (low < n ? 1 : 0)};
}

/// 32-bit words `begin` … `begin + count - 1` of the stream that Philox makes from `counter` on: words 4b …
/// 4b+3 are block b. Requires: begin a multiple of 4.
void philox_words(uint64_t key, std::array<uint64_t, 2> counter, int64_t begin, int64_t count, uint32_t* out);

}  // namespace hlosim
