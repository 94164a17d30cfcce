#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "lower/lower.h"
#include "model/device.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string device;
  DeviceChoices choices;
  std::string output = "-";
  std::string passes, print_after;
  bool list_passes = false;
};

std::string list_of_passes() {
  const std::vector<const Pass*> standard = default_passes();
  std::string text;
  size_t width = 0;
  for (const Pass& pass : all_passes()) width = std::max(width, pass.name.size() + 2);
  for (const Pass& pass : all_passes()) text += fmt::format("{:{}}{}\n", pass.name, width, pass.summary);
  text += "\ndefault: ";
  for (size_t i = 0; i < standard.size(); ++i) text += fmt::format("{}{}", i ? "," : "", standard[i]->name);
  return text + "\n";
}

/// What the line asks of the passes.
struct Plan {
  std::vector<const Pass*> run, print_after;
};
Result<Plan> plan_of(const Options& options) {
  Plan plan;
  Result<std::vector<const Pass*>> run = parse_passes(options.passes);
  if (!run) return tl::unexpected(run.error());
  plan.run = options.passes.empty() ? default_passes() : *run;
  if (options.print_after == "all") {
    plan.print_after = plan.run;
    return plan;
  }
  Result<std::vector<const Pass*>> print = parse_passes(options.print_after);
  if (!print) return tl::unexpected(print.error());
  plan.print_after = *print;
  return plan;
}

int lower_files(const Options& options, Streams streams) {
  if (options.list_passes)
    return write_output(options.output, list_of_passes(), streams) ? kExitSuccess : kExitInput;
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  if (options.files.empty())
    return fail(failure("FILE is required", "`hlosim help lower` lists the options").value());
  if (options.device.empty())
    return fail(failure("--device is required", "`hlosim help lower` lists the options").value());
  const Result<Plan> plan = plan_of(options);
  if (!plan) return fail(plan.error());
  const std::optional<Device> device = read_device(options.device, options.choices, streams);
  if (!device) return kExitInput;
  std::string text;
  for (const std::string& file : options.files) {
    const ModuleInput input = read_module_input(file, false, streams);
    if (!input.ok) return kExitInput;
    for (const Module& module : input.modules) {
      if (!text.empty()) text += "\n";
      if (const auto measurable = check_native_sizes(module, *device); !measurable)
        return fail(measurable.error());
      if (options.passes.empty() && !is_plain(module)) {
        text += to_text(module, op_table());
        continue;
      }
      const auto after = [&](const Pass& pass, const Module& now) {
        if (std::find(plan->print_after.begin(), plan->print_after.end(), &pass) == plan->print_after.end())
          return;
        streams.err << "// after " << pass.name << "\n" << to_text(now, op_table()) << "\n";
      };
      SimulateOptions simulate;
      simulate.stop = &streams.stop;
      const Module lowered = options.passes.empty()
                                 ? lower(module, op_table(), *device, simulate, after)
                                 : run_passes(module, plan->run, {op_table(), *device, &streams.stop}, after);
      if (streams.stop.asked()) return fail(failure(streams.stop.why()).value());
      const std::string one = to_text(lowered, op_table());
      if (const auto checked = check_made_text(one, "lower", module.name); !checked)
        return fail(checked.error());
      text += one;
    }
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_lower(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<Options>();
  line.add_option("FILE", options->files, "HLO text files; - is standard input");
  line.add_option("--device", options->device, "Device file, or a built-in device");
  declare_device_choices(line, options->choices);
  line.add_option("--passes", options->passes,
                  "These passes in this order, on plain modules and others: a,b,c");
  line.add_option("--print-after", options->print_after,
                  "Print the module to standard error after each of these passes, or after all");
  line.add_flag("--list-passes", options->list_passes, "List the passes");
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return lower_files(*options, streams); };
}

}  // namespace hlosim
