#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/budget.h"
#include "cli/tune/tune_all.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "estimate/prepared.h"
#include "ops/op_table.h"
#include "prefetch/prefetch.h"
#include "report/prefetch_report.h"

namespace hlosim {
namespace {

using Clock = std::chrono::steady_clock;

struct TunePrefetchArguments {
  SimulationOptions simulation;
  std::vector<std::string> knobs, knob_files;
  std::string output, format = "text", algorithm = "strong", objective = "time", budget = "10s";
  std::optional<int64_t> moves;
  uint64_t seed = 1;
  size_t top = 40;
  bool strip = false, list_knobs = false, keep_order = false;
};

int list_prefetch_knobs(Streams streams) {
  for (const KnobRow& knob : knob_rows({}))
    streams.out << fmt::format("{:<52} {:<6} {}\n", knob.name, knob.value, knob.meaning);
  return kExitSuccess;
}

/// The knobs of files and of --knob, the later ones winning; `origins` gets where each that was set comes
/// from.
Result<XlaKnobs> read_all_knobs(const TunePrefetchArguments& options, Streams streams,
                                std::map<std::string, std::string>& origins) {
  XlaKnobs knobs;
  for (const std::string& file : options.knob_files) {
    const Result<SourcePtr> source = read_input(file, streams);
    if (!source) return tl::unexpected(source.error());
    const std::vector<KnobRow> before = knob_rows(knobs);
    if (auto done = read_knobs(knobs, *source); !done) return tl::unexpected(std::move(done.error()));
    const std::vector<KnobRow> after = knob_rows(knobs);
    for (size_t i = 0; i < after.size(); ++i)
      if (after[i].value != before[i].value) origins[after[i].name] = file;
  }
  for (const std::string& knob : options.knobs) {
    const size_t equals = knob.find('=');
    if (equals == std::string::npos)
      return failure(fmt::format("--knob: '{}' is not NAME=VALUE", knob),
                     "`--list-knobs` shows what there is");
    if (auto done = set_knob(knobs, knob.substr(0, equals), knob.substr(equals + 1)); !done) {
      done.error().message = "--knob: " + done.error().message;
      return tl::unexpected(std::move(done.error()));
    }
    origins[knob.substr(0, equals)] = "--knob";
  }
  return knobs;
}

Result<std::vector<EffectiveKnob>> effective_knobs(const TunePrefetchArguments& options, Streams streams) {
  std::map<std::string, std::string> origins;
  const Result<XlaKnobs> knobs = read_all_knobs(options, streams, origins);
  if (!knobs) return tl::unexpected(knobs.error());
  std::vector<EffectiveKnob> rows;
  for (const KnobRow& row : knob_rows(*knobs)) {
    const auto origin = origins.find(row.name);
    const bool is_default = origin == origins.end();
    rows.push_back({row.name, row.value, is_default ? "" : origin->second, is_default});
  }
  return rows;
}

Result<PrefetchOptions> read_options(const TunePrefetchArguments& options, Streams streams) {
  PrefetchOptions result;
  std::map<std::string, std::string> origins;
  Result<XlaKnobs> knobs = read_all_knobs(options, streams, origins);
  if (!knobs) return tl::unexpected(knobs.error());
  result.knobs = std::move(*knobs);
  const Result<double> budget = budget_seconds(options.budget);
  if (!budget) return tl::unexpected(budget.error());
  result.budget = *budget;
  result.seed = options.seed;
  result.moves = options.moves;
  result.keep_order = options.keep_order;
  for (const PrefetchAlgorithm one : {PrefetchAlgorithm::kStrip, PrefetchAlgorithm::kXla,
                                      PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong})
    if (to_text(one) == options.algorithm) result.algorithm = one;
  if (options.strip) result.algorithm = PrefetchAlgorithm::kStrip;
  if (options.objective == "bytes") result.objective = PrefetchObjective::kBytes;
  if (options.objective == "bytes" && result.algorithm != PrefetchAlgorithm::kStrong)
    return failure(fmt::format("--objective=bytes is what the strong algorithm can look for, not {}",
                               to_text(result.algorithm)));
  return result;
}

/// `begin`: when work on the module began.
Result<TunedModule> tune_one(const Prepared& prepared, const TunePrefetchArguments& options,
                             PrefetchOptions tuning, const Device& device, Clock::time_point begin) {
  const std::chrono::duration<double> passed = Clock::now() - begin;
  tuning.budget = left_for_search(tuning.budget, passed.count());
  Result<PrefetchResult> result = tune_prefetch(*prepared.written, op_table(), device, tuning);
  if (!result) return tl::unexpected(result.error());
  result->lowered = prepared.is_lowered;
  if (prepared.is_cut) {
    result->cut = true;
    result->assumptions.emplace_back(kLoweringWasCut);
  }
  std::string report = options.format == "json" ? prefetch_report_json(*result, device.config)
                                                : prefetch_report_text(*result, device.config, options.top);
  return TunedModule{std::make_shared<const Module>(std::move(result->module)), std::move(report)};
}

int tune(const TunePrefetchArguments& options, Streams streams) {
  Clock::time_point begin = Clock::now();
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  if (options.simulation.files.empty())
    return fail(failure("FILE is required", "`hlosim help tune prefetch` lists the options").value());
  Result<PrefetchOptions> tuning = read_options(options, streams);
  if (!tuning) return fail(tuning.error());
  std::optional<SimulationSetting> setting = read_simulation(options.simulation, streams);
  if (!setting) return kExitInput;
  tuning->simulate = setting->estimate.simulate;
  const auto tune_it = [&](const Module&, const Prepared& prepared) {
    Result<TunedModule> made = tune_one(prepared, options, *tuning, setting->device, begin);
    begin = Clock::now();
    return made;
  };
  // Half of the budget is left for the search, and for writing what it finds.
  setting->estimate.is_late = [&] {
    const std::chrono::duration<double> passed = Clock::now() - begin;
    return tuning->budget > 0 && passed.count() > tuning->budget / 2;
  };
  return tune_all(options.simulation, *setting, {options.output, options.format, "tune prefetch"}, streams,
                  tune_it);
}

}  // namespace

std::function<int()> declare_tune_prefetch(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TunePrefetchArguments>();
  declare_simulation(line, options->simulation);
  line.option("FILE").required(false);
  line.add_option("--algorithm", options->algorithm,
                  "strong: greedy, then annealing, never slower than the input; greedy; xla: XLA's assigner")
      .one_of({"strong", "greedy", "xla"})
      .show_default();
  line.add_option("--objective", options->objective,
                  "Strong algorithm: minimize time, or HBM bytes without taking longer than the input")
      .one_of({"time", "bytes"})
      .show_default();
  line.add_flag("--strip", options->strip, "Only remove the existing prefetches");
  line.add_flag("--keep-order", options->keep_order, "Keep the order of instructions (strong may change it)");
  line.add_option("--seed", options->seed, "Seed of the random changes").show_default();
  line.add_option("--budget", options->budget, "Time limit per module, reading included; 0: none")
      .show_default();
  line.add_option("--moves", options->moves, "Random changes to try; by default 400 per site, at least 2,000")
      .from(0);
  line.add_option("--knob", options->knobs,
                  "NAME=VALUE: a knob of XLA's assigner, by its name; may be repeated")
      .one_value_each();
  line.add_option("--options", options->knob_files,
                  "File of knobs and overrides in protobuf's text format, as XLA takes them; may be repeated")
      .one_value_each();
  line.add_flag("--list-knobs", options->list_knobs, "List the knobs with their default values");
  line.add_option("-o,--output", options->output,
                  "Write the rewritten module here; with -, the report goes to standard error")
      .writes_file(streams.files);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("--top", options->top, "Rows of the list of places; 0: all").show_default();
  streams.verbosity.knobs = [options, streams] { return effective_knobs(*options, streams); };
  return [options, streams] {
    return options->list_knobs ? list_prefetch_knobs(streams) : tune(*options, streams);
  };
}

}  // namespace hlosim
