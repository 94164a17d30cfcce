#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "advise/advice_text.h"
#include "advise/advise.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/budget.h"
#include "cli/tune/made_text.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/model_input.h"
#include "console/simulation_setting.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

struct AdviseArguments {
  SimulationOptions simulation;
  StepChoice step;  // of a model file
  std::string budget = "30", apply, output, format = "text";
  std::string dcn_mesh;  // of a model file, over the slices
  std::string maxtext;
  std::vector<std::string> only;
  size_t top = 20;
  bool list_kinds = false, no_proof = false;
};

int list_advice_kinds(Streams streams) {
  for (const AdviceKind& kind : advice_kinds())
    streams.out << fmt::format("{:<20} {}\n", kind.name, kind.summary);
  return kExitSuccess;
}

/// "1,3" of `count` pieces of advice, as indices from 0.
Result<std::vector<size_t>> chosen_advice(const std::string& text, size_t count) {
  std::vector<size_t> chosen;
  for (const std::string& word : split(text, ',')) {
    const Result<int64_t> number = TextForm<int64_t>::read(word);
    if (!number || *number < 1)
      return failure(fmt::format("--apply: '{}' is not a list of numbers of advice", shown(text)),
                     "as in --apply=1,3");
    if (*number > static_cast<int64_t>(count))
      return failure(fmt::format("--apply: there is no advice {}, only {}", *number, count));
    chosen.push_back(static_cast<size_t>(*number - 1));
  }
  return chosen;
}

class AdviseCommand {
 public:
  AdviseCommand(const AdviseArguments& options, Streams streams) : options_(options), streams_(streams) {}

  int run() {
    const size_t files = options_.simulation.files.size();
    if (files > 1 || (files == 0 && options_.maxtext.empty()))
      return fail(failure("FILE is required: one module or model file").value());
    if (options_.apply.empty() != options_.output.empty())
      return fail(failure("--apply and -o need each other", "as in --apply=1 -o changed.hlo").value());
    if (Result<void> known = read_options(); !known) return fail(known.error());
    if (!options_.maxtext.empty() || names_model(options_.simulation.files[0])) return of_model();
    const std::optional<SimulationSetting> setting = read_simulation(options_.simulation, streams_);
    if (!setting) return kExitInput;
    if (options_.step != StepChoice() || !options_.dcn_mesh.empty())
      return fail(
          failure(fmt::format("{}: options of a step are for model files", options_.simulation.files[0]),
                  "a model file ends in .yaml (examples/models)")
              .value());
    return of_modules(*setting);
  }

 private:
  Result<void> read_options() {
    const Result<double> budget = budget_seconds(options_.budget);
    if (!budget) return tl::unexpected(budget.error());
    advise_.budget = *budget;
    advise_.kinds = options_.only;
    advise_.prove = !options_.no_proof;
    advise_.stop = &streams_.stop;
    std::vector<std::string_view> names;
    for (const AdviceKind& kind : advice_kinds()) names.push_back(kind.name);
    for (const std::string& name : options_.only)
      if (std::ranges::find(names, name) == names.end())
        return failure(fmt::format("--only: no kind of advice is called '{}'", shown(name)),
                       did_you_mean(name, names));
    return {};
  }

  int of_model() {
    const MeshOptions& mesh = options_.simulation.mesh;
    if (!mesh.statements.empty() || !mesh.written_for.empty() || mesh.partitions)
      return fail(failure("--shard, --written-for and --partitions are for modules",
                          "a model's step is written for its --mesh")
                      .value());
    const auto& files = options_.simulation.files;
    std::optional<ModelInput> input = read_model({.file = files.empty() ? "" : files[0],
                                                  .maxtext = options_.maxtext,
                                                  .known_devices = options_.simulation.devices},
                                                 streams_);
    if (!input) return kExitInput;
    Result<StepOptions> step = step_of(*input, options_.step, {mesh.mesh, options_.dcn_mesh});
    if (!step) return fail(step.error());
    SimulationOptions simulation = options_.simulation;
    simulation.mesh = {};  // the step is written for its mesh
    add_device_choices(*input, simulation.choices);
    if (input->step && simulation.slices == 1) simulation.slices = input->step->slices;
    std::optional<SimulationSetting> setting = read_simulation(simulation, streams_);
    if (!setting) return kExitInput;
    TrialSetup setup{
        StepModel{std::make_shared<const ModelConfig>(std::move(input->model)), std::move(*step)}, nullptr,
        setting->device, setting->estimate};
    if (Result<void> made = remake_step(setup); !made) return fail(made.error());
    if (Result<std::string> text = advised(setup); !text) return fail(text.error());
    return finish();
  }

  int of_modules(const SimulationSetting& setting) {
    const bool ok = for_each_chosen(options_.simulation, setting, streams_, [&](const Module& module) {
      const Step step(fmt::format("advised on {}", module.name), streams_);
      const TrialSetup setup{std::nullopt, std::make_shared<const Module>(module.copy()), setting.device,
                             setting.estimate};
      if (Result<std::string> text = advised(setup); !text) {
        tell(text.error(), streams_);
        return false;
      }
      return true;
    });
    return ok ? finish() : kExitInput;
  }

  /// The report of one program; with --apply also the changed module.
  Result<std::string> advised(const TrialSetup& setup) {
    const Result<AdviceReport> report = advise(setup, op_table(), advise_);
    if (!report) return tl::unexpected(report.error());
    reports_.push_back(options_.format == "json"
                           ? advice_json(*report)
                           : advice_text(*report, {options_.top, output_paint("-", streams_)}));
    if (options_.apply.empty()) return reports_.back();
    Result<std::vector<size_t>> chosen = chosen_advice(options_.apply, report->advice.size());
    if (!chosen) return tl::unexpected(chosen.error());
    Result<TrialSetup> changed = with_advice(setup, *report, *chosen);
    if (!changed) return tl::unexpected(changed.error());
    if (changed->module == setup.module) {
      const Proposal& flag = report->advice[(*chosen)[0]].proposal;
      return failure(fmt::format("--apply: advice {} changes no module", (*chosen)[0] + 1), flag.change);
    }
    std::string text = to_text(*changed->module, op_table());
    if (const auto checked = verify_emitted_text(text, "advise", setup.module->name); !checked)
      return tl::unexpected(checked.error());
    changed_.push_back(std::move(text));
    return reports_.back();
  }

  int finish() {
    if (!options_.output.empty() &&
        !write_output(options_.output, fmt::format("{}", fmt::join(changed_, "\n")), streams_))
      return kExitInput;
    (options_.output == "-" ? streams_.err : streams_.out)
        << (options_.format == "json" ? json_documents(reports_)
                                      : fmt::format("{}", fmt::join(reports_, "\n")));
    return kExitSuccess;
  }

  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  const AdviseArguments& options_;
  Streams streams_;
  AdviceOptions advise_;
  std::vector<std::string> reports_, changed_;
};

}  // namespace

std::function<int()> declare_advise(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<AdviseArguments>();
  declare_simulation(line, options->simulation);
  line.option("FILE").required(false).description(
      "HLO file, or a model as hlosim model takes it (.yaml, .json, .sh or a built-in name) with the options "
      "of its step; - is standard input");
  line.add_option("--budget", options->budget, "Time for everything, as in 30s or 2min; 0: no limit")
      .show_default();
  line.add_option("--only", options->only, "Try this kind of advice only; may be repeated").one_value_each();
  line.add_flag("--list-kinds", options->list_kinds, "List the kinds of advice");
  line.add_flag("--no-proof", options->no_proof, "Do not execute the program before and after a change");
  line.add_option("--apply", options->apply, "Numbers of advice, as in 1,3: write the changed module to -o");
  line.add_option("-o,--output", options->output,
                  "The changed module; with -, the report goes to standard error")
      .writes_file(streams.files);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("--top", options->top, "Pieces of advice in the text; 0: all").show_default();
  declare_step(line, options->step);
  declare_maxtext(line, options->maxtext);
  line.add_option("--dcn-mesh", options->dcn_mesh,
                  "Of a model file: axes over the slices, as data=2; --mesh has those of a slice");
  return [options, streams] {
    return options->list_kinds ? list_advice_kinds(streams) : AdviseCommand(*options, streams).run();
  };
}

}  // namespace hlosim
