#include "cli/inspect/print_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "mlir/write_text.h"
#include "model/custom_call_costs.h"
#include "model/pallas/kernel_bodies.h"
#include "mosaic/kernel_body.h"

namespace hlosim {

Result<std::string> kernel_text(std::span<const Module> modules, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Module& module : modules)
    for (const Instruction& instruction : module.instructions) {
      if (!has_kernel_body(instruction)) continue;
      const std::string_view kernel = kernel_name(instruction);
      if (std::find(names.begin(), names.end(), kernel) == names.end()) names.push_back(kernel);
      if (kernel != name && instruction.name != name) continue;
      const Attr* const config = instruction.find(AttrKey::kBackendConfig);
      const Result<mlir::File> body = mosaic::read_kernel_body(std::string(instruction.name), config->text());
      if (!body) return tl::unexpected<Diagnostic>(body.error());
      return mlir::write_text(*body);
    }
  return failure(fmt::format("no kernel with a body is called {}", shown(name)),
                 names.empty() ? "no call of the module has a kernel's body" : did_you_mean(name, names));
}

}  // namespace hlosim
