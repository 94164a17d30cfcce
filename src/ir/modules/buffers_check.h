// Rules of explicit buffers, shapes `b(f32[8])`: which instructions may handle them, and that each has at
// most one writer.
//
//   b0 = b(s32[2]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
//   b1 = b(s32[2]) custom-call(b0), custom_call_target="foo", output_to_operand_aliasing={{}: (0, {})}
//   y = s32[2] custom-call(b1), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
#pragma once

#include "hlo/user_index.h"

namespace hlosim {

/// Adds every broken rule. Requires: aliases name existing parts (the opcode's own check).
void check_buffers(const Module& module, const UserIndex& users, DiagnosticList& diagnostics);

}  // namespace hlosim
