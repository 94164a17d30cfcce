#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/study/case_selection.h"
#include "cli/study/profile_input.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/progress.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "measured/calibrate_data.h"
#include "measured/program_modules.h"
#include "ops/op_table.h"
#include "profile/read_profile.h"

namespace hlosim {
namespace {

struct CalibrateArguments : SimulationOptions {
  std::string path, module_file, output;
  std::vector<std::string> keys, only;
  int64_t most = 8;
};

int wrong_calibrate(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return kExitInput;
}

/// What the file extends: the built-in device or a file's whole path.
std::string extended(const std::string& device) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(device, ignored)) return device;
  return yaml_quoted(std::filesystem::absolute(device, ignored).string());
}

int write_result(const Result<Calibration>& found, const CalibrateArguments& options, const Device& device,
                 Streams streams) {
  if (!found) return wrong_calibrate(found.error(), streams);
  CalibrationSource source;
  source.device = extended(options.device);
  source.name = device.config.name;
  source.data = std::filesystem::path(options.path).filename().string();
  if (source.data.empty()) source.data = options.path;
  source.command = fmt::format("hlosim calibrate {} --device={}", source.data, options.device);
  if (!write_output("-", to_text(*found, source), streams)) return kExitInput;
  if (options.output.empty()) return kExitSuccess;
  const std::string yaml = to_yaml(*found, source);
  // A file that doesn't load would be found out about too late.
  DiagnosticList problems;
  const auto text =
      std::make_shared<const SourceFile>(options.output == "-" ? "calibrated.yaml" : options.output, yaml);
  if (!load_device(text, {}, DeviceSearch::from_environment(), problems))
    return tell(problems, streams), kExitInput;
  return write_output(options.output, yaml, streams) ? kExitSuccess : kExitInput;
}

/// Fits, and says on a terminal how far it is.
Result<Calibration> fit(const std::vector<Constant>& constants, const std::vector<CalibrationCase>& cases,
                        const PartedPredictor& predict, const LogPredictor& exact,
                        const CalibrateOptions& options, Streams streams) {
  std::atomic<int64_t> devices{0};
  const ProgressLine line(streams, "calibrate", [&] {
    return fmt::format("{} devices tried on {} cases", devices.load(), cases.size());
  });
  PartedPredictor counted{predict.part_of, {}};
  counted.predict = [&](std::span<const double> factors, std::span<const size_t> which) {
    ++devices;
    return predict.predict(factors, which);
  };
  return calibrate(constants, cases, counted, exact, options);
}

CalibrateOptions calibrate_options(const CalibrateArguments& options) {
  return {options.keys, static_cast<size_t>(options.most)};
}

int fit_cases(const SourcePtr& source, const CalibrateArguments& options, const Device& device,
              Streams streams) {
  const Result<CaseSelection> selection = CaseSelection::parse(options.only);
  if (!selection) return wrong_calibrate(selection.error(), streams);
  DiagnosticList problems;
  CaseData data;
  data.file = options.path;
  data.measured = read_measured_cases(source, problems);
  tell(problems, streams);
  if (problems.has_errors()) return kExitInput;
  std::set<std::string> devices;
  std::erase_if(data.measured, [&](const MeasuredCase& one) {
    devices.insert(one.device);
    return (one.device != options.device && one.device != device.config.generation) || !selection->takes(one);
  });
  if (data.measured.empty())
    return wrong_calibrate(
        failure(fmt::format("{} has no such case of {}", options.path, device.config.generation),
                fmt::format("it has cases of {}", fmt::join(devices, ", ")))
            .value(),
        streams);
  for (MeasuredCase& one : data.measured) one.device = options.device;
  data.options.search = DeviceSearch::from_environment();
  data.options.limits = streams.limits;
  if (options.no_lower) data.options.lowering = Lowering::kNever;
  for (const std::string& text : options.choices.overrides) {
    Result<DeviceOverride> one = parse_override(text);
    if (!one) return wrong_calibrate(one.error(), streams);
    data.options.overrides.push_back(std::move(*one));
  }
  const std::vector<Constant> constants = fittable_constants(device);
  const std::vector<CalibrationCase> cases = data.cases();
  return write_result(fit(constants, cases, data.predictor(constants), data.exact(constants),
                          calibrate_options(options), streams),
                      options, device, streams);
}

int fit_profile(const CalibrateArguments& options, const SimulationSetting& setting, Streams streams) {
  const Result<Profile> profile = read_profile_input(options.path, streams);
  if (!profile) return wrong_calibrate(profile.error(), streams);
  ProgramModules modules(streams.limits);
  if (!options.module_file.empty()) {
    ModuleInput input = read_module_input(options.module_file, false, streams);
    if (!input.ok) return kExitInput;
    for (Module& module : input.modules) modules.give(std::move(module));
  }
  const auto programs = std::count_if(profile->programs.begin(), profile->programs.end(),
                                      [](const ProfiledProgram& one) { return !one.operations.empty(); });
  ProfileData data(setting.device, setting.estimate);
  for (const ProfiledProgram& program : profile->programs) {
    if (program.operations.empty()) continue;
    const Result<Module> module = modules.of(program, programs == 1);
    Result<void> added;
    if (module)
      added = data.add(program, *module, op_table());
    else
      added = tl::unexpected(module.error());
    if (!added) note(fmt::format("program {} is left out: {}", program.name, added.error().message), streams);
  }
  const std::vector<Constant> constants = fittable_constants(setting.device);
  return write_result(fit(constants, data.cases(), data.predictor(constants, op_table()), {},
                          calibrate_options(options), streams),
                      options, setting.device, streams);
}

int calibrate_command(const CalibrateArguments& options, Streams streams) {
  std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  std::error_code ignored;
  if (std::filesystem::is_directory(options.path, ignored)) return fit_profile(options, *setting, streams);
  if (const Result<void> used = streams.files.reads(options.path); !used)
    return wrong_calibrate(used.error(), streams);
  const Result<SourcePtr> raw = read_source(options.path);
  if (!raw) return wrong_calibrate(raw.error(), streams);
  const Result<bool> is_profile = holds_profile(*raw);
  if (!is_profile) return wrong_calibrate(is_profile.error(), streams);
  if (*is_profile) return fit_profile(options, *setting, streams);
  const Result<SourcePtr> source = read_input(options.path, streams);
  if (!source) return wrong_calibrate(source.error(), streams);
  return fit_cases(*source, options, setting->device, streams);
}

}  // namespace

std::function<int()> declare_calibrate(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<CalibrateArguments>();
  line.add_option(
          "DATA", options->path,
          "Log folder or file of a profiler, or measured cases (JSON) as `hlosim accuracy` takes them")
      .required();
  line.add_option("-d,--device", options->device,
                  "Device file, or a built-in device, whose constants are fitted")
      .required();
  declare_device_choices(line, options->choices);
  line.add_option("--key", options->keys,
                  "Fit this constant, as in dma.bandwidth, and no others but those named; may be repeated")
      .one_value_each();
  line.add_option(
          "--only", options->only,
          "KEY=VALUE: only cases of that kind, scope, dtype_class, family, core or id; may be repeated")
      .one_value_each();
  line.add_option("--most", options->most, "Constants at most").from(1).show_default();
  line.add_option("--module", options->module_file,
                  "HLO file to simulate where the profile has no module of its own");
  line.add_option("--topology", options->topology, "Slice of chips that a profile is of, as in 2x2x1");
  line.add_option("--devices", options->devices, "Number of devices that a profile is of").from(1);
  line.add_option("--while-trip-count", options->while_trip_count,
                  "Trip count to assume for while loops whose trip count is unknown")
      .from(0)
      .show_default();
  line.add_flag("--no-lower", options->no_lower,
                "Simulate unoptimized modules as is, without hlosim's TPU lowering passes");
  line.add_option("-o,--output", options->output,
                  "The device file to write; none: only what was found is printed")
      .writes_file(streams.files);
  return [options, streams] { return calibrate_command(*options, streams); };
}

}  // namespace hlosim
