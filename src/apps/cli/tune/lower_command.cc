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
#include "console/mesh_options.h"
#include "console/verbosity.h"
#include "estimate/named_slice.h"
#include "hlo/printer.h"
#include "lower/lower.h"
#include "model/device.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

struct LowerArguments {
  std::vector<std::string> files;
  std::string device;
  DeviceChoices choices;
  std::string output = "-";
  std::string passes, print_after;
  bool list_passes = false, no_partition = false;
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
Result<Plan> plan_of(const LowerArguments& options) {
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

class Lowerer {
 public:
  Lowerer(const LowerArguments& options, Plan plan, Device device, Streams streams)
      : options_(options), plan_(std::move(plan)), device_(std::move(device)), streams_(streams) {
    simulate_.stop = &streams_.stop;
  }

  /// Nullopt, with what is wrong printed.
  std::optional<std::string> lower_all() {
    const Result<SliceRequest> slice = on_named_slice({}, options_.device, device_);
    if (!slice) return fail(slice.error());
    simulate_.slice = *slice;
    std::string text;
    for (const std::string& file : options_.files) {
      const ModuleInput input = read_module_input(file, false, streams_);
      if (!input.ok) return std::nullopt;
      for (const Module& module : input.modules) {
        const Result<std::string> one = lowered(module);
        if (!one) return fail(one.error());
        text += (text.empty() ? "" : "\n") + *one;
      }
    }
    return text;
  }

 private:
  std::optional<std::string> fail(const Diagnostic& diagnostic) const {
    tell(diagnostic, streams_);
    return std::nullopt;
  }

  Result<std::string> lowered(const Module& given) {
    const Result<Module> spread =
        partitioned_module(given, &device_, simulate_, std::nullopt, options_.no_partition, streams_);
    if (!spread) return tl::unexpected(spread.error());
    if (const auto measurable = check_native_sizes(*spread, device_); !measurable)
      return tl::unexpected(measurable.error());
    const bool by_default = options_.passes.empty();
    if (by_default && !is_plain(*spread)) return to_text(*spread, op_table());
    const auto after = [&](const Pass& pass, const Module& now) {
      if (std::ranges::find(plan_.print_after, &pass) == plan_.print_after.end()) return;
      streams_.err << "// after " << pass.name << "\n" << to_text(now, op_table()) << "\n";
    };
    const Module made = by_default
                            ? lower(*spread, op_table(), device_, simulate_, after)
                            : run_passes(*spread, plan_.run, {op_table(), device_, &streams_.stop}, after);
    if (streams_.stop.asked()) return failure(streams_.stop.why());
    std::string text = to_text(made, op_table());
    if (const auto checked = verify_emitted_text(text, "lower", given.name); !checked)
      return tl::unexpected(checked.error());
    return text;
  }

  const LowerArguments& options_;
  Plan plan_;
  Device device_;
  SimulateOptions simulate_;
  Streams streams_;
};

int lower_files(const LowerArguments& options, Streams streams) {
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
  Result<Plan> plan = plan_of(options);
  if (!plan) return fail(plan.error());
  std::optional<Device> device = read_device(options.device, options.choices, streams);
  if (!device) return kExitInput;
  const std::optional<std::string> text =
      Lowerer(options, std::move(*plan), std::move(*device), streams).lower_all();
  return text && write_output(options.output, *text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_lower(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<LowerArguments>();
  line.add_option("FILE", options->files, "HLO text files; - is standard input");
  line.add_option("-d,--device", options->device, "Device file, or a built-in device");
  declare_device_choices(line, options->choices);
  line.add_option("--passes", options->passes,
                  "Run these passes in this order, on optimized modules too: a,b,c");
  line.add_option("--print-after", options->print_after,
                  "Print the module to standard error after these passes, or after all");
  declare_no_partition(line, options->no_partition);
  line.add_flag("--list-passes", options->list_passes, "List the passes");
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return lower_files(*options, streams); };
}

}  // namespace hlosim
