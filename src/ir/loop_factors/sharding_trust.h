// How soon a sharding may pass through an instruction, by what its dimensions are to each other: what passes
// elements on as they are is asked first, what makes many of one last.
//
//   sharding_trust(DimensionRule::kElement)    // {0, 0}
//   sharding_trust(DimensionRule::kBroadcast)  // {3, 2}: from the operand last, from users a little earlier
#pragma once

#include <cstdint>

#include "hlo/op_rules.h"

namespace hlosim {

inline constexpr int kTrustLevels = 4;
/// For parts of a range, which lie on other devices than the range does.
inline constexpr uint8_t kTrustOfParts = 3;

struct ShardingTrust {
  uint8_t forward = 0;   // the level at which results take from operands
  uint8_t backward = 0;  // and operands from results
};

ShardingTrust sharding_trust(DimensionRule rule);

}  // namespace hlosim
