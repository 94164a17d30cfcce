#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/tune_all.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "report/schedule_report.h"
#include "schedule/latency_schedule.h"

namespace hlosim {
namespace {

struct TuneScheduleArguments {
  SimulationOptions simulation;
  std::vector<std::string> knobs;
  std::string output, format = "text";
  size_t top = 20;
  bool list_knobs = false, no_split = false, always = false;
};

int list_knobs(Streams streams) {
  for (const KnobDoc& knob : schedule_knobs({}))
    streams.out << fmt::format("{:<40} {:<6} {}\n", knob.name, knob.value, knob.meaning);
  return kExitSuccess;
}

Result<LatencyScheduleOptions> read_knobs(const TuneScheduleArguments& options) {
  LatencyScheduleOptions result;
  for (const std::string& knob : options.knobs) {
    const size_t equals = knob.find('=');
    if (equals == std::string::npos)
      return failure(fmt::format("--knob: '{}' is not NAME=VALUE", knob),
                     "`--list-knobs` shows what there is");
    if (const auto set = set_schedule_knob(result, knob.substr(0, equals), knob.substr(equals + 1)); !set) {
      Diagnostic wrong = set.error();
      wrong.message = "--knob: " + wrong.message;
      if (wrong.hint.empty()) wrong.hint = "`--list-knobs` shows what there is";
      return tl::unexpected(std::move(wrong));
    }
  }
  result.split = !options.no_split;
  result.keep_faster = !options.always;
  return result;
}

Result<std::vector<EffectiveKnob>> effective_knobs(const TuneScheduleArguments& options) {
  const Result<LatencyScheduleOptions> knobs = read_knobs(options);
  if (!knobs) return tl::unexpected(knobs.error());
  std::vector<EffectiveKnob> rows;
  for (const KnobDoc& row : schedule_knobs(*knobs)) {
    const bool is_set = std::any_of(options.knobs.begin(), options.knobs.end(), [&](const std::string& knob) {
      return knob.substr(0, knob.find('=')) == row.name;
    });
    rows.push_back({row.name, row.value, "--knob", !is_set});
  }
  return rows;
}

int tune(const TuneScheduleArguments& options, Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  if (options.simulation.files.empty())
    return fail(failure("FILE is required", "`hlosim help tune schedule` lists the options").value());
  Result<LatencyScheduleOptions> knobs = read_knobs(options);
  if (!knobs) return fail(knobs.error());
  const std::optional<SimulationSetting> setting = read_simulation(options.simulation, streams);
  if (!setting) return kExitInput;
  knobs->simulate = setting->estimate.simulate;
  const Device& device = setting->device;
  return tune_all(
      options.simulation, *setting, {options.output, options.format, "tune schedule"}, streams,
      [&](const Module&, const Prepared& prepared) -> Result<TunedModule> {
        Result<LatencySchedule> schedule = tune_schedule(*prepared.written, op_table(), device, *knobs);
        if (!schedule) return tl::unexpected(schedule.error());
        std::string report = options.format == "json"
                                 ? schedule_report_json(*schedule, device.config)
                                 : schedule_report_text(*schedule, device.config, options.top);
        return TunedModule{std::make_shared<const Module>(std::move(schedule->module)), std::move(report)};
      });
}

}  // namespace

std::function<int()> declare_tune_schedule(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TuneScheduleArguments>();
  declare_simulation(line, options->simulation);
  line.option("FILE").required(false);
  line.add_option("--knob", options->knobs,
                  "NAME=VALUE: a knob of the scheduler, by XLA's name; may be repeated")
      .one_value_each();
  line.add_flag("--list-knobs", options->list_knobs, "List the knobs with their default values");
  line.add_flag("--no-split", options->no_split, "Keep synchronous collectives");
  line.add_flag("--always", options->always, "Use the new order even if it is slower");
  line.add_option("-o,--output", options->output,
                  "Write the scheduled module here; with -, the report goes to standard error")
      .writes_file(streams.files);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("--top", options->top, "Rows of the list of transfers; 0: all").show_default();
  streams.verbosity.knobs = [options] { return effective_knobs(*options); };
  return [options, streams] { return options->list_knobs ? list_knobs(streams) : tune(*options, streams); };
}

}  // namespace hlosim
