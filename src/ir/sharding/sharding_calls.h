// What instructions say of shardings besides `sharding=`: custom calls that compute nothing, notes of Shardy.
//
//   sharding_call(instruction)                     // ShardingCall::kStates: custom_call_target="Sharding"
//   unspecified_dimensions(instruction)            // {1, 2}: backend_config="unspecified_dims=[1,2]"
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

enum class ShardingCall : uint8_t {
  kNone,
  kStates,            // its sharding is that of the value
  kIntoManual,        // whole arrays outside, what one device has of them inside
  kOutOfManual,       // the reverse
  kKeepsFromResult,   // the result takes nothing from the operand
  kKeepsFromOperand,  // the operand takes nothing from the result
  kKeepsApart,        // neither takes from the other
  kGroup,             // all operands of the group lie alike
  kElementwise,       // element i of each result depends on elements i of the operands
};

ShardingCall sharding_call(const Instruction& instruction);

/// Dimensions of which the sharding on the call says nothing; ascending.
std::vector<int64_t> unspecified_dimensions(const Instruction& instruction);

/// What Shardy's own text of a sharding (`xla.sdy.sharding` among the frontend attributes) says of a
/// dimension that HLO's doesn't.
struct SdyDimension {
  bool open = false;     // `?`: may be cut further
  int64_t priority = 0;  // `p1`: counts once all that comes first has had its effects
};
/// Of each array the dimensions; empty: there is no such text.
std::vector<std::vector<SdyDimension>> sdy_dimensions(const Instruction& instruction);

/// Of a kGroup: its number; -1: it has none.
int64_t sharding_group(const Instruction& instruction);

}  // namespace hlosim
