// HLO text → Module. The grammar is that of docs/hlo_text.md; what an opcode accepts comes from the
// OpTable, so this code names no opcode.
#pragma once

#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Reads every module of `source`: one after the other, or split by `// -----` lines. Errors and
/// warnings go to `diagnostics`, all with positions; modules with errors are left out of the result. Arrays
/// of more dimensions than `limits` allow are errors. The result's names and texts point into `source`, which
/// each module keeps alive.
std::vector<Module> read_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& diagnostics,
                                 const Limits& limits = {});

}  // namespace hlosim
