#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/run.h"
#include "cli/simulation_setting.h"
#include "ops/op_table.h"
#include "report/estimate.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/trace.h"

namespace hlosim {
namespace {

struct Options : SimulationOptions {
  std::string format = "text";
  std::string output = "-";
  int64_t top = 10;
  bool timeline = false;
  std::string fail_on;
  bool no_lower = false;
};

/// Which modules --module asks for: all, one by its number, or those whose name a regular expression finds.
class ModuleChoice {
 public:
  static Result<ModuleChoice> parse(const std::string& text) {
    ModuleChoice choice;
    if (text.empty()) return choice;
    size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error == std::errc() && end == text.data() + text.size()) {
      choice.index_ = index;
      return choice;
    }
    try {
      choice.regex_ = std::regex(text);
    } catch (const std::regex_error& problem) {
      return failure(fmt::format("--module: '{}' is neither a number nor a regular expression: {}",
                                 shown(text), problem.what()));
    }
    return choice;
  }

  /// `index` counts the modules of all files, from 0.
  bool takes(const Module& module, size_t index) const {
    if (index_) return *index_ == index;
    return !regex_ || std::regex_search(module.name.begin(), module.name.end(), *regex_);
  }

 private:
  std::optional<size_t> index_;
  std::optional<std::regex> regex_;
};

/// Everything that the estimates of all modules share.
struct Setting {
  Device device;
  CustomCallCosts custom_calls;
  SimulateOptions simulate;
  Lowering lowering = Lowering::kPlain;
  ModuleChoice choice;
};

std::optional<Setting> usage_error(const Diagnostic& diagnostic, Streams streams) {
  streams.err << render(diagnostic);
  return std::nullopt;
}

bool read_custom_calls(const std::string& path, CustomCallCosts& costs, Streams streams) {
  if (path.empty()) return true;
  const Result<SourcePtr> source = read_input(path, streams);
  if (!source) {
    streams.err << render(source.error());
    return false;
  }
  DiagnosticList problems;
  costs = read_custom_call_costs(*source, problems);
  for (const Diagnostic& problem : problems.items()) streams.err << render(problem);
  return !problems.has_errors();
}

std::optional<Setting> read_setting(const Options& options, Streams streams) {
  if (options.device.empty())
    return usage_error(failure("--device is missing",
                               fmt::format("a device file, or one of {}", fmt::join(builtin_devices(), ", ")))
                           .value(),
                       streams);
  Setting setting;
  const Result<ModuleChoice> choice = ModuleChoice::parse(options.module);
  if (!choice) return usage_error(choice.error(), streams);
  setting.choice = *choice;
  if (options.no_lower) setting.lowering = Lowering::kNever;
  if (!options.topology.empty()) {
    const Result<SliceRequest> topology = parse_topology(options.topology);
    if (!topology) {
      Diagnostic diagnostic = topology.error();
      diagnostic.message = "--topology: " + diagnostic.message;
      return usage_error(diagnostic, streams);
    }
    setting.simulate.slice = *topology;
  }
  setting.simulate.slice.slices = options.slices;
  setting.simulate.slice.devices = options.devices;
  setting.simulate.unknown_trip_count = options.while_trip_count;
  setting.simulate.keep_timeline = false;
  if (!read_custom_calls(options.custom_call_costs, setting.custom_calls, streams)) return std::nullopt;
  std::optional<Device> device = read_device(options.device, options.overrides, streams);
  if (!device) return std::nullopt;
  setting.device = std::move(*device);
  return setting;
}

/// The report of one module; says what is wrong.
std::optional<Report> report_module(Module& module, const SimulationSetting& setting, const Options& options,
                                    Streams streams) {
  SimulateOptions simulate = setting.simulate;
  simulate.custom_calls = &setting.custom_calls;
  Estimator estimator(module, op_table(), setting.lowering);
  const Result<Estimate> estimate = estimator.run(setting.device, simulate);
  if (!estimate) {
    Diagnostic diagnostic = estimate.error();
    if (!diagnostic.source)
      diagnostic.message = fmt::format("module {}: {}", module.name, diagnostic.message);
    streams.err << render(diagnostic);
    return std::nullopt;
  }
  Report report = make_report(module, op_table(), setting.device, *estimate);
  if (options.timeline)
    report.timeline = timeline_text(make_trace(module, op_table(), setting.device, *estimate));
  report.unused_keys = keys_without_effect(estimator, setting.device, simulate, *estimate);
  return report;
}

std::string printed(const std::vector<Report>& reports, const Options& options) {
  std::string text;
  if (options.format == "csv") return to_csv(reports);
  if (options.format == "json") {
    std::vector<std::string> documents;
    for (const Report& report : reports) documents.push_back(to_json(report, HLOSIM_VERSION));
    return json_documents(documents);
  }
  for (const Report& report : reports) {
    if (!text.empty()) text += "\n\n";
    text += to_text(report, {.top = static_cast<size_t>(options.top)});
  }
  return text;
}

/// CSV has no place for it.
void warn_of_unused_keys(const Report& report, Streams streams) {
  for (const UnusedKey& key : report.unused_keys.keys)
    streams.err << fmt::format("hlosim: warning: {}{} = {} had no effect on {}\n",
                               key.from_set ? "--set " : "", key.path, key.text, report.module_name);
}

int report(const Options& options, Streams streams) {
  std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  setting->simulate.keep_timeline = options.timeline;
  std::vector<std::unique_ptr<Module>> modules;  // a report's names are views into its module
  std::vector<Report> reports;
  const bool ok = for_each_chosen(options, *setting, streams, modules, [&](Module& module) {
    std::optional<Report> one = report_module(module, *setting, options, streams);
    if (one) reports.push_back(std::move(*one));
    return one.has_value();
  });
  if (reports.empty()) return kExitInput;
  if (options.format == "csv")
    for (const Report& one : reports) warn_of_unused_keys(one, streams);
  if (!write_output(options.output, printed(reports, options), streams) || !ok) return kExitInput;
  const bool oom =
      std::any_of(reports.begin(), reports.end(), [](const Report& r) { return !r.overflows().empty(); });
  return oom && options.fail_on == "oom" ? kExitFailedCheck : kExitSuccess;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app, Streams streams) {
  const auto options = std::make_shared<Options>();
  declare_simulation(app, *options);
  app.add_option("--format", options->format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Output file; - is standard output")->capture_default_str();
  app.add_option("--top", options->top, "Rows of the longest lists in the text; 0: all")
      ->check(whole_number_from(0))
      ->capture_default_str();
  app.add_option("--module", options->module,
                 "Only modules with this number (from 0) or a name that matches this regular expression");
  app.add_option("--while-trip-count", options->while_trip_count,
                 "Iterations of while loops that don't tell theirs")
      ->check(whole_number_from(0))
      ->capture_default_str();
  app.add_flag("--no-lower", options->no_lower,
               "Take modules that no TPU compiler has touched as they stand");
  app.add_option("--custom-call-costs", options->custom_call_costs,
                 "YAML file with costs of custom calls by target");
  app.add_flag("--timeline", options->timeline, "Draw what runs when, in text");
  app.add_option("--fail-on", options->fail_on,
                 "Exit with 1 when the module doesn't fit into the device's memory")
      ->check(CLI::IsMember({"oom"}));
  return [options, streams] { return report(*options, streams); };
}

}  // namespace hlosim
