#include "measured/program_modules.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <unordered_set>

#include "base/text.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"

namespace hlosim {

namespace {

/// Most of its time goes into operations with names of the module's instructions.
bool is_likely(const ProfiledProgram& program, const Module& module) {
  std::unordered_set<std::string_view> names;
  for (const Instruction& instruction : module.instructions) names.insert(instruction.name);
  double all = 0, found = 0;
  for (const ProfiledOperation& one : program.operations) {
    if (one.beside) continue;
    const auto time = static_cast<double>(one.self_time.count());
    all += time;
    if (names.contains(one.name)) found += time;
  }
  return found > all / 2;
}

}  // namespace

void ProgramModules::give(Module module) { given_.push_back(std::move(module)); }

Result<Module> ProgramModules::of(const ProfiledProgram& program, bool only) const {
  for (const Module& module : given_)
    if (module.name == program.name) return module.copy();
  if (given_.size() == 1 && (only || (program.name.empty() && is_likely(program, given_.front()))))
    return given_.front().copy();
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
