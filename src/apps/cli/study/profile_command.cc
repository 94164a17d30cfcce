#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "base/pattern.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/study/profile_input.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "measured/comparison.h"
#include "measured/comparison_output.h"
#include "measured/program_modules.h"
#include "model/device_names.h"
#include "ops/op_table.h"
#include "report/html/html.h"

namespace hlosim {
namespace {

struct ProfileArguments : SimulationOptions {
  std::string path, module_file, program;
  std::string format = "text", output = "-";
  int64_t top = 20;
};

/// What is printed, and what its views into programs need.
struct Compared {
  ProfileComparison comparison;
  std::vector<HtmlModule> pages;
};

int wrong_profile(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return kExitInput;
}

/// Programs with something to show, the longest first.
std::vector<const ProfiledProgram*> chosen_programs(const Profile& profile, const Pattern& pattern) {
  std::vector<const ProfiledProgram*> programs;
  for (const ProfiledProgram& one : profile.programs)
    if ((!one.operations.empty() || one.runs > 0) && pattern.finds(one.name)) programs.push_back(&one);
  const auto time = [](const ProfiledProgram* one) {
    Picoseconds sum{};
    for (const ProfiledOperation& operation : one->operations)
      if (!operation.beside) sum += operation.self_time;
    return std::max(sum, one->time);
  };
  std::stable_sort(programs.begin(), programs.end(),
                   [&](const ProfiledProgram* a, const ProfiledProgram* b) { return time(a) > time(b); });
  return programs;
}

ComparedProgram compare_one(const ProfiledProgram& program, const Profile& profile,
                            const Result<Module>& module, const SimulationSetting& setting,
                            const ProfileArguments& options, Compared& out) {
  if (!module) return measured_program(program, profile, module.error().message);
  const Result<Estimate> estimate = hlosim::estimate(*module, op_table(), setting.device, setting.estimate);
  if (!estimate) return measured_program(program, profile, estimate.error().message);
  const Report report = make_report(*module, op_table(), setting.device, *estimate);
  if (options.format == "html")
    out.pages.push_back(html_module(op_table(), setting.device, *estimate, report, HLOSIM_VERSION));
  ComparedProgram compared = compare_program(program, profile, *estimate, report, op_table());
  if (program.hlo.empty() || !options.module_file.empty()) compared.module_file = options.module_file;
  return compared;
}

/// False, with what is wrong_profile printed.
bool read_given_module(const ProfileArguments& options, ProgramModules& modules, Streams streams) {
  if (options.module_file.empty()) return true;
  ModuleInput input = read_module_input(options.module_file, false, streams);
  if (!input.ok) return false;
  for (Module& module : input.modules) modules.give(std::move(module));
  return true;
}

std::optional<Compared> compare(const Profile& profile, ProfileArguments& options, Streams streams) {
  const Result<Pattern> pattern = Pattern::parse(options.program);
  if (!pattern) return complain("--program: " + pattern.error().message, "", streams), std::nullopt;
  ProgramModules modules(streams.limits);
  if (!read_given_module(options, modules, streams)) return std::nullopt;
  if (options.device.empty())
    options.device = device_of_name(profile.device_type, DeviceSearch::from_environment());
  std::optional<SimulationSetting> setting;
  if (!options.device.empty()) {
    setting = read_simulation(options, streams);
    if (!setting) return std::nullopt;
    setting->estimate.simulate.keep_timeline = options.format == "html";
  }
  Compared out;
  out.comparison.profile = &profile;
  const std::vector<const ProfiledProgram*> programs = chosen_programs(profile, *pattern);
  for (const ProfiledProgram* one : programs) {
    if (!setting) {
      out.comparison.programs.push_back(measured_program(*one, profile, "--device is missing"));
      continue;
    }
    const Result<Module> module = modules.of(*one, programs.size() == 1);
    out.comparison.programs.push_back(compare_one(*one, profile, module, *setting, options, out));
  }
  return out;
}

int profile(ProfileArguments options, Streams streams) {
  const Result<Profile> profile = read_profile_input(options.path, streams);
  if (!profile) return wrong_profile(profile.error(), streams);
  const std::optional<Compared> compared = compare(*profile, options, streams);
  if (!compared) return kExitInput;
  const ProfileComparison& comparison = compared->comparison;
  if (options.format == "html" && compared->pages.empty())
    return wrong_profile(failure("--format=html shows simulations, and no program could be simulated",
                                 comparison.programs.empty() ? "" : comparison.programs.front().not_simulated)
                             .value(),
                         streams);
  const std::string text = options.format == "json"  ? to_json(comparison, HLOSIM_VERSION)
                           : options.format == "csv" ? to_csv(comparison)
                           : options.format == "html"
                               ? html_page(compared->pages, {}, to_json(comparison, HLOSIM_VERSION))
                               : to_text(comparison, {static_cast<size_t>(options.top)});
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_profile(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ProfileArguments>();
  line.add_option("PROFILE", options->path,
                  "Log folder of a profiler, or one of its files: XSpace, trace, hlo_stats, op_profile")
      .required();
  line.add_option("-d,--device", options->device, "Device file or built-in device; default: the profile's");
  declare_device_choices(line, options->choices);
  line.add_option("--module", options->module_file,
                  "HLO file to simulate instead of the profile's own module");
  line.add_option("--program", options->program, "Only programs whose name matches this regular expression");
  line.add_option("--topology", options->topology, "Slice topology, e.g. 2x2x1");
  line.add_option("--devices", options->devices, "Number of devices").from(1);
  line.add_option("--while-trip-count", options->while_trip_count,
                  "Trip count to assume for while loops whose trip count is unknown")
      .from(0)
      .show_default();
  line.add_option("--custom-call-costs", options->custom_call_costs,
                  "YAML file with costs of custom calls by target, kernel, name or op_name");
  line.add_option("--top", options->top, "Operations of each program in the text; 0: all")
      .from(0)
      .show_default();
  line.add_option("--format", options->format,
                  "text, json, csv, or html (the report's page with a tab Measured)")
      .one_of({"text", "json", "csv", "html"})
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return profile(*options, streams); };
}

}  // namespace hlosim
