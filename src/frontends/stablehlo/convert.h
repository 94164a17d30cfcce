// MLIR as values → HLO modules: what XLA's converter makes of StableHLO and CHLO.
//
//   DiagnosticList findings;
//   for (const mlir::File& file : mlir::read_text(source, findings))
//     for (Module& module : stablehlo::convert(file, op_table(), findings)) …
//
// The modules aren't verified yet. docs/stablehlo.md says what becomes what, and what is refused.
#pragma once

#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "mlir/ir.h"
#include "mlir_bytecode/exported.h"
#include "stablehlo/options.h"

namespace hlosim::stablehlo {

/// One module for each entry of `file`: @main, or each function that no other calls. A module's first error
/// goes to `findings`, and the module is left out.
std::vector<Module> convert(const mlir::File& file, const OpTable& table, DiagnosticList& findings,
                            const ConvertOptions& options = {});

/// The same of an artifact in a file of jax.export: what the file says of devices, shardings and sizes counts
/// where the program itself is silent.
std::vector<Module> convert(const mlir::File& file, const mlir::Exported& exported, const OpTable& table,
                            DiagnosticList& findings, const ConvertOptions& options = {});

}  // namespace hlosim::stablehlo
