// StableHLO in whatever form it is held → HLO modules.
//
//   if (stablehlo::holds_mlir(source->text())) modules = stablehlo::read_modules(source, table, findings);
#pragma once

#include <string_view>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "stablehlo/options.h"

namespace hlosim::stablehlo {

/// MLIR, told by the first words; it may still be wrong.
bool holds_mlir(std::string_view content);

/// All modules of all pieces, not yet verified; errors go to `findings`.
std::vector<Module> read_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const ConvertOptions& options = {});

/// Reads the content and no more: nothing is converted.
void parse_only(const SourcePtr& source, DiagnosticList& findings);

}  // namespace hlosim::stablehlo
