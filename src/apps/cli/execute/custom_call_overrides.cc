#include "cli/execute/custom_call_overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "base/value.h"
#include "cli/execute/elided.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

bool is_custom_call(const Instruction& instruction) { return instruction.find(AttrKey::kCustomCallTarget); }

bool is_called(const Instruction& custom_call, std::string_view name) {
  return name == custom_call.name || name == kernel_name(custom_call) ||
         name == custom_call_target(custom_call);
}

Evaluation evaluate_as(CustomCallRun run, EvaluateContext& op) {
  switch (run) {
    case CustomCallRun::kIdentity:
      return evaluate_first_operand_call(op);
    case CustomCallRun::kZeros:
      return evaluate_zeros_call(op);
    case CustomCallRun::kIgnore:
      return evaluate_ignored_call(op);
  }
  return nullptr;
}

/// The entries as rules. `entries` is copied.
void add_rules(const CustomCallCosts& entries, CustomCallHandlers& handlers) {
  const auto kept = std::make_shared<const CustomCallCosts>(entries);
  handlers.add(
      {[kept](const Instruction& call) { return kept->find_run(call) != nullptr; },
       [kept](EvaluateContext& op) { return evaluate_as(*kept->find_run(op.instruction())->run, op); }});
}

bool refuse(std::string message, std::string hint, Streams streams) {
  tell(failure(std::move(message), std::move(hint)).value(), streams);
  return false;
}

bool read_entries(const std::string& path, CustomCallCosts& entries, Streams streams) {
  if (path.empty()) return true;
  const Result<SourcePtr> source = read_input(path, streams);
  if (!source) {
    tell(source.error(), streams);
    return false;
  }
  DiagnosticList problems;
  entries = read_custom_call_costs(*source, problems);
  tell(problems, streams);
  return !problems.has_errors();
}

/// The one module of a file.
std::unique_ptr<Module> read_kernel(const std::string& name, const std::string& file, Streams streams) {
  ModuleInput input = read_module_input(file, false, streams);
  if (!input.ok) return nullptr;
  if (input.modules.size() == 1) return std::make_unique<Module>(std::move(input.modules[0]));
  refuse(fmt::format("--kernel={}: '{}' has {} modules, expected one", name, file, input.modules.size()), "",
         streams);
  return nullptr;
}

}  // namespace

std::optional<StandIns> StandIns::read(const StandInOptions& options, const Constants& constants,
                                       MemoryPool& pool, Streams streams) {
  StandIns made;
  if (!read_entries(options.custom_calls, made.entries_, streams)) return std::nullopt;
  for (const std::string& text : options.kernels)
    if (!made.add_kernel(text, constants, pool, streams)) return std::nullopt;
  return made;
}

bool StandIns::add_kernel(const std::string& text, const Constants& constants, MemoryPool& pool,
                          Streams streams) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return refuse(fmt::format("--kernel: '{}' is not NAME=FILE", shown(text)),
                  "a custom call's target, kernel or name, and the HLO text that runs in its place", streams);
  const std::string name = text.substr(0, equals), file = text.substr(equals + 1);
  const auto is_same = [&](const Kernel& other) { return other.name == name; };
  if (std::any_of(kernels_.begin(), kernels_.end(), is_same))
    return refuse(fmt::format("--kernel: '{}' is given twice", shown(name)), "", streams);
  std::unique_ptr<Module> module = read_kernel(name, file, streams);
  if (!module) return false;
  CustomCallHandlers handlers;
  add_rules(entries_, handlers);
  ProgramOptions program;
  program.custom_calls = &handlers;
  program.graph.max_constant_bytes = constants.max_bytes;
  program.graph.elided = elided_values(constants.elided, *module, constants.seed);
  DiagnosticList problems;
  std::optional<StandIn> stand_in = StandIn::make(file, std::move(module), pool, program, problems);
  tell(problems, streams);
  if (stand_in) kernels_.push_back({name, std::move(*stand_in)});
  return stand_in.has_value();
}

CustomCallHandlers StandIns::handlers() const {
  CustomCallHandlers handlers;  // what is added last comes first
  add_rules(entries_, handlers);
  for (auto kernel = kernels_.rbegin(); kernel != kernels_.rend(); ++kernel)
    handlers.add({[name = kernel->name](const Instruction& call) { return is_called(call, name); },
                  kernel->stand_in.evaluation()});
  return handlers;
}

void StandIns::warn_of_unused(const Module& module, Streams streams) const {
  std::vector<std::string_view> names;
  for (const Instruction& call : module.instructions)
    if (is_custom_call(call))
      for (const std::string_view name : {custom_call_target(call), kernel_name(call)})
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const Kernel& kernel : kernels_) {
    const bool used = std::any_of(
        module.instructions.begin(), module.instructions.end(),
        [&](const Instruction& one) { return is_custom_call(one) && is_called(one, kernel.name); });
    if (!used)
      warn(fmt::format("--kernel: no custom call is of target or kernel '{}', or called so",
                       shown(kernel.name)),
           streams);
  }
  for (const CustomCallCost& entry : entries_.costs) {
    if (!entry.run) continue;
    const bool used =
        std::any_of(module.instructions.begin(), module.instructions.end(),
                    [&](const Instruction& one) { return is_custom_call(one) && entry.fits(one); });
    if (used) continue;
    Diagnostic warning =
        error_at(entry.source, entry.offset, fmt::format("no custom call matches \"{}\"", shown(entry.key)),
                 did_you_mean(entry.key, names));
    warning.severity = Severity::kWarning;
    tell(warning, streams);
  }
}

int64_t StandIns::peak_bytes() const {
  int64_t peak = 0;
  for (const Kernel& kernel : kernels_) peak = std::max(peak, kernel.stand_in.peak_bytes());
  return peak;
}

}  // namespace hlosim
