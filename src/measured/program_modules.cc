#include "measured/program_modules.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"

namespace hlosim {

void ProgramModules::give(Module module) { given_.push_back(std::move(module)); }

Result<Module> ProgramModules::of(const ProfiledProgram& program, bool only) const {
  for (const Module& module : given_)
    if (module.name == program.name) return module.copy();
  if (only && given_.size() == 1) return given_.front().copy();
  if (program.hlo.empty()) return failure("the profile has no module of it: --module gives one");
  const auto bytes =
      std::make_shared<const SourceFile>(fmt::format("module {}", shown(program.name)), program.hlo);
  const Result<SourcePtr> text = as_text(bytes);
  if (!text) return tl::unexpected(text.error());
  DiagnosticList problems;
  std::vector<Module> modules = load_modules(*text, op_table(), problems, {limits_, {}, false});
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
  if (modules.size() != 1) return failure(fmt::format("its proto holds {} modules", modules.size()));
  return std::move(modules.front());
}

}  // namespace hlosim
