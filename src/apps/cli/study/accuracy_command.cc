#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/study/case_selection.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "model/device_files.h"
#include "study/accuracy.h"
#include "study/accuracy_errors.h"
#include "study/accuracy_ladders.h"
#include "study/accuracy_limits.h"
#include "study/accuracy_program.h"
#include "study/accuracy_runs.h"
#include "study/accuracy_serving.h"
#include "study/accuracy_steps.h"

namespace hlosim {
namespace {

struct AccuracyArguments {
  std::vector<std::string> files, only, overrides;
  std::string baseline, format = "text", output = "-", report, date;
  std::vector<std::string> programs;
  std::string limits;
  int64_t worst = 10;
  bool no_lower = false, errors = false, steps = false;
};

int usage_error(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return kExitInput;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

bool write_report(const Accuracy& accuracy, const AccuracyArguments& options, const AccuracyOutput& output,
                  Streams streams) {
  std::error_code error;
  std::filesystem::create_directories(options.report, error);
  if (error) {
    tell(failure(fmt::format("cannot make '{}': {}", options.report, error.message())).value(), streams);
    return false;
  }
  return write_output(options.report + "/accuracy.md", to_markdown(accuracy, output), streams) &&
         write_output(options.report + "/accuracy.svg", to_svg(accuracy), streams);
}

/// The device files of the cases, and those that they extend, are no outputs.
Result<void> claim_devices(const std::vector<MeasuredCase>& cases, Streams streams) {
  std::set<std::string> names;
  for (const MeasuredCase& one : cases) names.insert(one.device);
  const DeviceSearch search = DeviceSearch::from_environment();
  for (const std::string& name : names) {
    DiagnosticList reported_later;  // by the predictions of the cases
    const std::optional<DeviceTree> tree = read_device_tree(name, search, reported_later);
    for (const std::string& file : tree ? tree->files : std::vector<std::string>{name})
      if (auto used = streams.files.reads(file); !used) return used;
  }
  return {};
}

/// The cases of all files; no two have one id.
std::optional<std::vector<MeasuredCase>> read_all(const AccuracyArguments& options, Streams streams) {
  std::vector<MeasuredCase> cases;
  std::set<std::string> ids;
  for (const std::string& file : options.files) {
    const Result<SourcePtr> source = read_input(file, streams);
    if (!source) return usage_error(source.error(), streams), std::nullopt;
    DiagnosticList problems;
    std::vector<MeasuredCase> more = read_measured_cases(*source, problems);
    for (const MeasuredCase& one : more)
      if (!one.id.empty() && !ids.insert(one.id).second && !problems.has_errors())
        problems.add(
            failure(fmt::format("{}: id \"{}\" is one of another file, too", file, shown(one.id))).value());
    tell(problems, streams);
    if (problems.has_errors()) return std::nullopt;
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  return cases;
}

/// Reads the cases that --only takes; says what is wrong.
std::optional<std::vector<MeasuredCase>> read_cases(const AccuracyArguments& options, Streams streams) {
  const Result<CaseSelection> selection = CaseSelection::parse(options.only);
  if (!selection) return usage_error(selection.error(), streams), std::nullopt;
  std::optional<std::vector<MeasuredCase>> read = read_all(options, streams);
  if (!read) return std::nullopt;
  std::vector<MeasuredCase>& cases = *read;
  std::erase_if(cases, [&](const MeasuredCase& one) { return !selection->takes(one); });
  if (const Result<void> used = claim_devices(cases, streams); !used)
    return usage_error(used.error(), streams), std::nullopt;
  if (cases.empty())
    return usage_error(failure(fmt::format("{} has no such case", fmt::join(options.files, ", "))).value(),
                       streams),
           std::nullopt;
  return read;
}

/// Null, with what is wrong printed.
std::optional<std::vector<MeasuredProgram>> read_programs(const AccuracyArguments& options, Streams streams) {
  std::vector<MeasuredProgram> programs;
  for (const std::string& path : options.programs) {
    Result<MeasuredProgram> one = measure_program(path, DeviceSearch::from_environment(), streams.limits);
    if (!one) return usage_error(one.error(), streams), std::nullopt;
    for (const std::string& file : one->files)
      if (const Result<void> used = streams.files.reads(file); !used)
        return usage_error(used.error(), streams), std::nullopt;
    programs.push_back(std::move(*one));
  }
  return programs;
}

/// Exit code 1 where errors are beyond the limits: it says which.
int hold_limits(const AccuracyArguments& options, const Accuracy& accuracy, const std::vector<StepSum>& steps,
                const std::vector<Ladder>& ladders, Streams streams) {
  const Result<SourcePtr> source = read_input(options.limits, streams);
  if (!source) return usage_error(source.error(), streams);
  DiagnosticList problems;
  const std::optional<AccuracyLimits> limits = read_accuracy_limits(*source, problems);
  tell(problems, streams);
  if (!limits) return kExitInput;
  const std::vector<std::string> broken = broken_limits(*limits, accuracy, steps, ladders);
  for (const std::string& line : broken) complain(line, "", streams);
  return broken.empty() ? kExitSuccess : kExitFailedCheck;
}

int accuracy(const AccuracyArguments& options, Streams streams) {
  PredictOptions predict_options;
  predict_options.search = DeviceSearch::from_environment();
  predict_options.limits = streams.limits;
  if (options.no_lower) predict_options.lowering = Lowering::kNever;
  for (const std::string& text : options.overrides) {
    Result<DeviceOverride> one = parse_override(text);
    if (!one) return usage_error(one.error(), streams);
    predict_options.overrides.push_back(std::move(*one));
  }
  if (!options.report.empty())
    for (const char* name : {"/accuracy.md", "/accuracy.svg"})
      if (const Result<void> used = streams.files.writes("--report", options.report + name); !used)
        return usage_error(used.error(), streams);
  std::optional<std::vector<MeasuredCase>> cases = read_cases(options, streams);
  if (!cases) return kExitInput;
  std::vector<Prediction> predictions = predict(*cases, options.files[0], predict_options);
  const Accuracy accuracy = make_accuracy(std::move(*cases), std::move(predictions));
  AccuracyOutput output;
  output.worst = static_cast<size_t>(options.worst);
  output.roofline = !options.baseline.empty();
  output.date = options.date.empty() ? today() : options.date;
  std::vector<std::string> names;
  for (const std::string& file : options.files)
    names.push_back(std::filesystem::path(file).filename().string());
  output.command = fmt::format("hlosim accuracy {} --report={}", fmt::join(names, " "), options.report);
  const std::vector<StepSum> steps = step_sums(accuracy);
  const std::optional<std::vector<MeasuredProgram>> programs = read_programs(options, streams);
  if (!programs) return kExitInput;
  if (options.steps) output.steps = steps_markdown(steps, output.worst);
  const RunErrors runs = run_errors(accuracy);
  const std::vector<Ladder> ladders = run_ladders(accuracy);
  const ServingErrors served = serving_errors(accuracy);
  output.program = programs_markdown(*programs) + runs_markdown(runs) + ladders_markdown(ladders) +
                   serving_markdown(served, accuracy);
  if (!options.report.empty() && !write_report(accuracy, options, output, streams)) return kExitInput;
  if (options.steps) output.steps = steps_text(steps, output.worst);
  output.program =
      programs_text(*programs) + runs_text(runs) + ladders_text(ladders) + serving_text(served, accuracy);
  const std::string text = options.errors             ? to_text(study_errors(accuracy))
                           : options.format == "json" ? to_json(accuracy, options.steps)
                                                      : to_text(accuracy, output);
  if (!write_output(options.output, text, streams)) return kExitInput;
  return options.limits.empty() ? kExitSuccess : hold_limits(options, accuracy, steps, ladders, streams);
}

}  // namespace

std::function<int()> declare_accuracy(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<AccuracyArguments>();
  line.add_option("FILE", options->files, "Measured cases (JSON), of all files together; - is standard input")
      .required();
  line.add_option(
          "--only", options->only,
          "KEY=VALUE: only cases of that device, kind, scope, dtype_class, family, core or id; may be "
          "repeated")
      .one_value_each();
  line.add_option("--baseline", options->baseline,
                  "roofline: also print the errors of max(FLOPs / peak, bytes / bandwidth)")
      .one_of({"roofline"});
  line.add_option("--set", options->overrides,
                  "Overrides a key of every device: memory.hbm.bandwidth=2TB/s; may be repeated")
      .one_value_each();
  line.add_flag("--steps", options->steps,
                "Also print sums by family, weighted by occurrences: error by time and its parts");
  line.add_option("--program", options->programs,
                  "Whole program with its measured time per category (JSON); may be repeated")
      .one_value_each();
  line.add_option("--limits", options->limits,
                  "YAML file with limits for the errors of rows and steps; exit code 1 beyond them");
  line.add_flag("--no-lower", options->no_lower,
                "Simulate unoptimized modules as is, without hlosim's TPU lowering passes");
  line.add_flag("--errors", options->errors,
                "Print the quantiles behind prediction intervals, and their coverage");
  line.add_option("--worst", options->worst, "Number of cases with the largest errors to list")
      .from(0)
      .show_default();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.add_option("--report", options->report, "Directory for accuracy.md and accuracy.svg");
  line.add_option("--date", options->date, "Date of the report (default: today)");
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return accuracy(*options, streams); };
}

}  // namespace hlosim
