// Dimensions of an operand and a result whose places don't belong together one by one, but lie near each
// other: cut alike, a device needs little more than what it has.
//
//   loose_pairs(op)          // f32[27,8] pad(f32[11,8]), padding=2_4_1x0_0: {{.operand = 0, .result = 0}}
//
// Where places do belong together, factors.h says so.
#pragma once

#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// Dimensions of operand `array` and of the result's leaf `leaf`.
struct LoosePair {
  int64_t array = 0, operand = 0;
  int64_t leaf = 0, result = 0;
  bool both_ways = true;  // no: how the result lies says nothing of the operand
};

/// Pads with room between the elements; windows that slide with holes or steps that don't fit the sizes.
std::vector<LoosePair> loose_pairs(const OpContext& op);

}  // namespace hlosim
