// The table of all opcodes. Each row is defined once, in the file of its family.
#pragma once

#include "hlo/op_def.h"

namespace hlosim {

#define HLOSIM_OPCODE(Name, text) extern const OpDef k##Name##Op;
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE

/// Every opcode's row.
const OpTable& op_table();

}  // namespace hlosim
