#include "input/load_modules.h"

#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "modules/module_rules.h"
#include "stablehlo/read_stablehlo.h"

namespace hlosim {

std::vector<Module> load_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const Limits& limits, const stablehlo::ConvertOptions& options) {
  std::vector<Module> modules = stablehlo::holds_mlir(source->text())
                                    ? stablehlo::read_modules(source, table, findings, options)
                                    : read_modules(source, table, findings, limits);
  for (Module& module : modules)
    if (verify(module, table, findings, limits)) check_module_rules(module, table, findings);
  return modules;
}

}  // namespace hlosim
