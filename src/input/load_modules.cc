#include "input/load_modules.h"

#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "input/partial_text.h"
#include "modules/module_rules.h"
#include "stablehlo/read_stablehlo.h"

namespace hlosim {

namespace {

/// The text, made whole where that is asked for.
SourcePtr whole_text(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                     const LoadOptions& options) {
  if (!options.partial) return source;
  PartialText completed = complete(source, table, options.limits);
  for (Diagnostic& note : completed.missing) findings.add(std::move(note));
  return completed.source;
}

}  // namespace

std::vector<Module> parse_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                  const LoadOptions& options) {
  if (!stablehlo::holds_mlir(source->text()))
    return read_modules(whole_text(source, table, findings, options), table, findings, options.limits);
  stablehlo::parse_only(source, findings);
  return {};
}

std::vector<Module> load_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const LoadOptions& options) {
  std::vector<Module> modules = stablehlo::holds_mlir(source->text())
                                    ? stablehlo::read_modules(source, table, findings, options.mlir)
                                    : parse_modules(source, table, findings, options);
  for (Module& module : modules)
    if (verify(module, table, findings, options.limits)) check_module_rules(module, table, findings);
  return modules;
}

}  // namespace hlosim
