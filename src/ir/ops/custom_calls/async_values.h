// Instructions that may stand between the parts of an asynchronous chain and hand its value on: tuples,
// copies, control flow, annotations of shardings.
//
//   carries_async_value(Opcode::kWhile)       // true
//   passes_async_value(sharding_call)         // true: custom_call_target="Sharding"
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// True for opcodes whose operands may be the value of a chain, whatever their attributes are.
bool carries_async_value(Opcode opcode);

/// True for custom calls that state a sharding, or the border of a manually partitioned region.
bool annotates_sharding(const Instruction& instruction);

/// True for instructions that may stand between the parts of a chain.
bool passes_async_value(const Instruction& instruction);

}  // namespace hlosim
