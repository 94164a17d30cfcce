// From text to modules that everything else can work on.
//
//   DiagnosticList findings;
//   const std::vector<Module> modules = load_modules(source, op_table(), findings);
//   if (findings.has_errors()) …
#pragma once

#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "stablehlo/options.h"

namespace hlosim {

struct LoadOptions {
  Limits limits;
  stablehlo::ConvertOptions mlir;  // of StableHLO programs
  bool partial = false;            // HLO text that was cut off is made whole (input/partial_text.h)
};

/// Reads the modules of a text, HLO's or MLIR's (docs/stablehlo.md), told by its content; verifies them and
/// checks the rules across their instructions (modules/module_rules.h). All of them are verified only where
/// `findings` gets no errors.
std::vector<Module> load_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const LoadOptions& options = {});

/// Reads without verifying. StableHLO programs are read, but not converted: there are no modules of them.
std::vector<Module> parse_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                  const LoadOptions& options = {});

}  // namespace hlosim
