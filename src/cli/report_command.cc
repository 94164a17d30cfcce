#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <ostream>
#include <regex>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/device_input.h"
#include "cli/input.h"
#include "cli/run.h"
#include "model/custom_call_costs.h"
#include "ops/op_table.h"
#include "report/estimate.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"

namespace hlosim {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string device;
  std::vector<std::string> overrides;
  std::string topology;
  std::optional<int64_t> devices;
  int64_t slices = 1;
  std::string format = "text";
  std::string output = "-";
  int64_t top = 10;
  std::string module;
  int64_t while_trip_count = 1;
  std::string custom_call_costs;
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
std::optional<Report> report_module(Module& module, const Setting& setting, Streams streams) {
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

int no_module_error(const Options& options, const std::vector<std::string>& names, Streams streams) {
  std::string known;
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    known += fmt::format("{}{} {}", i > 0 ? ", " : "", i, names[i]);
  if (names.size() > kShown) known += fmt::format(", and {} more", names.size() - kShown);
  streams.err << render(
      failure(fmt::format("--module: no module is called or numbered '{}'", shown(options.module)),
              names.empty() ? "" : fmt::format("there are: {}", known))
          .value());
  return kExitInput;
}

int report(const Options& options, Streams streams) {
  std::optional<Setting> setting = read_setting(options, streams);
  if (!setting) return kExitInput;
  bool ok = true;
  std::vector<std::string> names;
  std::vector<Module> modules;  // a report's names are views into its module
  std::vector<Report> reports;
  for (const std::string& file : options.files) {
    ModuleInput input = read_module_input(file, false, streams);
    ok = ok && input.ok;
    for (Module& module : input.modules) {
      names.emplace_back(module.name);
      if (!setting->choice.takes(module, names.size() - 1) || !input.ok) continue;
      modules.push_back(std::move(module));
      std::optional<Report> one = report_module(modules.back(), *setting, streams);
      ok = ok && one;
      if (one) reports.push_back(std::move(*one));
    }
  }
  if (reports.empty()) return ok ? no_module_error(options, names, streams) : kExitInput;
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
  app.add_option("FILE", options->files, "HLO text files; - is standard input")->required();
  app.add_option("--device", options->device,
                 "Device file, or a built-in device: v4, v4.yaml, my/device.yaml");
  app.add_option("--set", options->overrides,
                 "path=value: another value for a key of the device; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--topology", options->topology,
                 "Slice of chips, as in 2x2x1; 4x4x8_twisted, 4x4_mesh, 3x5_torus: whatever the rule says");
  app.add_option("--devices", options->devices, "Number of devices of all slices")
      ->check(whole_number_from(1));
  app.add_option("--slices", options->slices, "Slices of that topology, joined by the hosts' network")
      ->check(whole_number_from(1))
      ->capture_default_str();
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
  app.add_option("--fail-on", options->fail_on,
                 "Exit with 1 when the module doesn't fit into the device's memory")
      ->check(CLI::IsMember({"oom"}));
  return [options, streams] { return report(*options, streams); };
}

}  // namespace hlosim
