// What a program is, whatever its instructions are called: fingerprints of instructions and modules that
// don't depend on names, metadata, blanks and comments, nor, where nothing says that lines are a schedule, on
// their order.
//
//   const Structure a = structure_of(one, table), b = structure_of(other, table);
//   if (a.module == b.module) …                    // the same program, whatever its names
#pragma once

#include <cstdint>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

struct Structure {
  /// Opcode, shape with its layout, attributes, constant, called computations; not the operands.
  IdMap<InstructionId, uint64_t> own;
  /// The same with all that the instruction depends on through operands.
  IdMap<InstructionId, uint64_t> deep;
  /// Of the module. The order of lines counts only when the module says that it is scheduled.
  uint64_t module = 0;
  /// And of the order of lines, and of all names but those inside of what asynchronous operations wrap, which
  /// not every text has.
  uint64_t named = 0;
};

/// Requires: a verified module.
Structure structure_of(const Module& module, const OpTable& table);

}  // namespace hlosim
