// Sequences of one step of a server: how many new tokens each has, and how many it attends to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

/// `count` sequences that are alike. `keys`: tokens in the cache after the step, the new ones included.
struct SequenceLength {
  int64_t count = 1, queries = 1, keys = 1;
  bool operator==(const SequenceLength&) const = default;
};

/// "64x1:1500,448:2048": 64 sequences of one new token and 1,500 keys, one of 448 new tokens. Without ":" a
/// sequence has no keys but its own: "512" is a prompt. Errors: other text, more queries than keys.
Result<std::vector<SequenceLength>> parse_sequence_lengths(std::string_view text);

/// "8x512,0,256": numbers with counts. Errors: other text, more than 2^20 numbers.
Result<std::vector<int64_t>> parse_counted_numbers(std::string_view text);

/// Errors: none, counts below 1, more queries than keys, tokens or keys beyond 2^31.
Result<void> check_sequences(const std::vector<SequenceLength>& sequences);

int64_t query_tokens(const std::vector<SequenceLength>& sequences);

}  // namespace hlosim
