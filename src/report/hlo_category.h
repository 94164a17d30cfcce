// XLA's category of an instruction, as XProf's tables and op profiles show it: HloInstruction::ToCategory().
//
//   hlo_category(module, op_table(), instruction)  // "loop fusion", "data formatting", "all-gather"
#pragma once

#include <string>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// "convolution fusion" is a fusion with a matmul or convolution inside, "data formatting" one that only
/// moves elements: what XLA's TPU compiler calls such fusions.
std::string hlo_category(const Module& module, const OpTable& table, const Instruction& instruction);

}  // namespace hlosim
