// The table of all opcodes. Each row is defined once, in the file of its family.
#pragma once

#include "hlo/op_def.h"

namespace hlosim {

#define HLOSIM_OPCODE(Name, text) extern const OpDef k##Name##Op;
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE

/// Every opcode's row.
const OpTable& op_table();
/// What an opcode is to others, for those who are given no table.
inline const OpRules& op_rules(Opcode opcode) { return op_table()[opcode].rules; }
inline const OpRules& op_rules(const Instruction& instruction) { return op_rules(instruction.opcode); }

inline bool is_tuple(const Instruction& instruction) {
  return op_rules(instruction).value == ValueRule::kTuple;
}
inline bool is_tuple_element(const Instruction& instruction) {
  return op_rules(instruction).value == ValueRule::kElement;
}

}  // namespace hlosim
