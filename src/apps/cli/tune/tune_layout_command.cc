#include <chrono>
#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/budget.h"
#include "cli/tune/tune_all.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "report/relayout_report.h"

namespace hlosim {
namespace {

struct TuneLayoutArguments : SimulationOptions {
  std::string values, objective = "time", format = "text", output, budget = "0";
  std::vector<std::string> tiles, questions;
  bool free_entry = false;
  uint64_t seed = 1;
  int64_t moves = 20000, steps = 20000, top = 20;
};

Result<LayoutTuneOptions> tune_options(const TuneLayoutArguments& options, const SimulationSetting& setting) {
  LayoutTuneOptions result;
  if (!options.values.empty()) {
    Result<Pattern> values = Pattern::parse(options.values);
    if (!values) return failure("--values: " + values.error().message);
    result.arrays.values = std::move(*values);
  }
  result.arrays.tiles = options.tiles;
  result.arrays.free_entry = options.free_entry;
  if (options.objective == "bytes") result.objective = LayoutObjective::kBytes;
  if (options.objective == "memory") result.objective = LayoutObjective::kMemory;
  result.search.seed = options.seed;
  result.search.moves = options.moves;
  result.search.steps = options.steps;
  result.simulate = setting.estimate.simulate;
  return result;
}

/// Asked now and then whether the time that the line gives has passed, or somebody wishes an end.
std::function<bool()> deadline(double seconds, const Stop& stop) {
  if (seconds <= 0) return [&stop] { return stop.asked(); };
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  return [end, &stop] { return stop.asked() || std::chrono::steady_clock::now() >= end; };
}

int tune(const TuneLayoutArguments& options, Streams streams) {
  const std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  Result<LayoutTuneOptions> tuning_options = tune_options(options, *setting);
  if (!tuning_options) return fail(tuning_options.error());
  const Result<double> budget = budget_seconds(options.budget);
  if (!budget) return fail(budget.error());
  std::vector<LayoutQuestion> questions;
  for (const std::string& text : options.questions) {
    const Result<LayoutQuestion> question = parse_layout_question(text);
    if (!question) return fail(question.error());
    questions.push_back(*question);
  }
  const Device& device = setting->device;
  return tune_all(options, *setting, {options.output, options.format, "tune layout"}, streams,
                  [&](const Module& given, const Prepared& prepared) -> Result<TunedModule> {
                    const Module& ready = *prepared.module;
                    tuning_options->search.out_of_time = deadline(*budget, streams.stop);
                    const Result<LayoutTuning> tuning =
                        questions.empty()
                            ? tune_layouts(ready, op_table(), device, *tuning_options)
                            : ask_layouts(ready, op_table(), device, *tuning_options, questions);
                    if (!tuning) return tl::unexpected(tuning.error());
                    if (streams.stop.asked()) return failure(streams.stop.why());
                    const LayoutTuningNames names{given.name, device.config.name, tuning_options->objective,
                                                  !questions.empty(), static_cast<size_t>(options.top)};
                    return TunedModule{tuning->module, options.format == "json" ? to_json(*tuning, names)
                                                                                : to_text(*tuning, names)};
                  });
}

}  // namespace

std::function<int()> declare_tune_layout(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TuneLayoutArguments>();
  declare_simulation(line, *options);
  line.add_option("--values", options->values,
                  "Only values whose name matches this regular expression; default: all");
  line.add_option("--tile", options->tiles,
                  "Also try this tiling, as in T(8,128) or T(8,128)(2,1); may be repeated")
      .one_value_each();
  line.add_flag("--free-entry", options->free_entry,
                "Also change the layouts of the module's arguments and results");
  line.add_option("--objective", options->objective, "time, bytes (of HBM traffic) or memory (peak of HBM)")
      .one_of({"time", "bytes", "memory"})
      .show_default();
  line.add_option("--what-if", options->questions,
                  "Simulate this layout instead of a search: VALUE={1,0:T(8,128)}; may be repeated")
      .one_value_each();
  line.add_option("--seed", options->seed, "Seed of the search").show_default();
  line.add_option("--moves", options->moves, "Number of choices to estimate").from(0).show_default();
  line.add_option("--exact-steps", options->steps, "Steps of the exact search; 0: none")
      .from(0)
      .show_default();
  line.add_option("--budget", options->budget,
                  "Time limit, as in 10s; results then depend on the machine; 0: none")
      .show_default();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output,
                  "Write the rewritten module here; with -, the report goes to standard error")
      .writes_file(streams.files);
  line.add_option("--top", options->top, "Rows of lists in the text; 0: all").from(0).show_default();
  return [options, streams] { return tune(*options, streams); };
}

}  // namespace hlosim
