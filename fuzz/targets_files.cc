// Targets that take files other than modules: configurations, saved results, devices, dumps.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "buffers/buffer_analysis.h"
#include "cli/run.h"
#include "estimate/estimate.h"
#include "input/hlo_file.h"
#include "model/custom_call_costs.h"
#include "ops/op_table.h"
#include "prefetch/prefetch.h"
#include "read_input.h"
#include "report/buffer_report.h"
#include "report/report_text.h"
#include "study/accuracy.h"
#include "study/diff.h"
#include "study/gate.h"
#include "study/sweep_run.h"
#include "study/sweep_table.h"
#include "targets.h"
#include "text/read_json.h"
#include "xla_dump/dump.h"
#include "xla_dump/dump_check.h"

namespace hlosim::fuzz {
namespace {

/// The input as a file of this process beside a.hlo; it goes with the object.
class InputFile {
 public:
  InputFile(const Bench& bench, std::string_view ending, const std::string& text)
      : path_(fmt::format("{}/input-{}{}", bench.folder, ::getpid(), ending)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// a.hlo of the bench's folder.
std::string own_module(const Bench& bench) {
  std::ifstream file(bench.folder + "/a.hlo");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool command(const std::vector<std::string>& args) {
  std::istringstream in;
  std::ostringstream out, err;
  const int code = run(args, in, out, err);
  HLOSIM_CHECK(code != kExitInput || !err.str().empty(), "nothing says what is wrong");
  return code != kExitInput;
}

std::optional<Metrics> figures_of(const Module& module, const Device& device) {
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, EstimateOptions{});
  if (!estimate) return std::nullopt;
  return make_figures(make_report(module, op_table(), device, *estimate), module, op_table(), *estimate);
}

void write_all(const GateResult& result) {
  for (const std::string& text :
       {to_text(result), to_markdown(result), to_json(result, "1"), to_junit(result), to_sarif(result, "1"),
        to_benchmark_json(result), to_bencher_json(result)})
    HLOSIM_CHECK(!text.empty());
  to_annotations(result);
}

}  // namespace

bool read_proto(const Bench& bench, const std::string& input, Random& choice) {
  const Result<SourcePtr> text = as_text(source_of(input));
  if (!text) return told(text.error()), false;
  return report_on_v5e(bench, std::string((*text)->text()), choice);
}

bool gate_by_config(const Bench& bench, const std::string& input, Random& choice) {
  DiagnosticList problems;
  const std::optional<GateConfig> config = read_gate_config(source_of(input), problems);
  HLOSIM_CHECK(told(problems) == config.has_value());
  if (!config) return false;
  // The whole command takes a hundred times as long.
  if (!choice.one_in(8)) return true;
  const InputFile file(bench, ".yaml", input);
  return command({"gate", "--config=" + file.path()});
}

bool gate_by_baseline(const Bench& bench, const std::string& input, Random& choice) {
  DiagnosticList problems;
  const std::optional<Baseline> baseline = read_baseline(source_of(input), problems);
  HLOSIM_CHECK(told(problems) == baseline.has_value());
  if (!baseline) return false;
  DiagnosticList none;
  std::optional<GateConfig> config = read_gate_config(
      source_of(choice.one_in(2) ? std::string(bench.pool(InputForm::kGate).seeds.back().text)
                                 : "modules: [a.hlo]\ndevices: [v5e]\non_new: fail\n"),
      none);
  HLOSIM_CHECK(config);
  std::vector<GateRun> runs;
  const auto modules = read_right(own_module(bench));
  for (const Module& module : *modules) {
    GateRun run;
    run.file = run.path = "a.hlo";
    run.device = "v5e";
    run.figures = *figures_of(module, bench.device("v5e"));
    runs.push_back(std::move(run));
  }
  if (!baseline->runs.empty() && choice.one_in(2)) {
    runs.push_back(baseline->runs[choice.below(baseline->runs.size())]);
    for (int64_t& total : runs.back().figures.totals) total += static_cast<int64_t>(choice.below(3)) - 1;
  }
  write_all(judge(*config, runs, *baseline));
  const std::string text = to_json(*baseline, "1");
  DiagnosticList again;
  HLOSIM_CHECK(read_baseline(source_of(text), again), "a baseline of ours isn't read: {}",
               again.items().empty() ? "" : again.items().front().message);
  return true;
}

void show_in_every_form(const Experiment& experiment, const std::vector<SweepResult>& results,
                        bool only_front) {
  const SweepTable table{experiment, results, pareto_front(experiment, results), only_front};
  sweep_text(table);
  sweep_markdown(table);
  sweep_csv(table);
  sweep_json(table);
  sweep_svg(table);
}

bool sweep_experiment(const Bench& bench, const std::string& input, Random& choice) {
  const auto source = std::make_shared<const SourceFile>(bench.folder + "/experiment.yaml", input);
  DiagnosticList problems;
  const std::optional<Experiment> experiment = read_experiment(source, {}, problems);
  HLOSIM_CHECK(told(problems) == experiment.has_value());
  if (!experiment || experiment->size() > 6) return experiment.has_value();
  PointRunner runner(*experiment);
  std::vector<SweepResult> results;
  for (int64_t i = 0; i < experiment->size(); ++i) results.push_back(runner.run(point_at(*experiment, i)));
  show_in_every_form(*experiment, results, choice.one_in(2));
  return true;
}

bool resume_journal(const Bench& bench, const std::string& input, Random& choice) {
  // Half of the inputs with right checksums: else nothing behind them is ever tried.
  std::string text;
  for (const std::string_view line : lines_of(input)) {
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string_view rest = line.substr(std::min(blank + 1, line.size()));
    text += fmt::format("{:016x} {}\n", Fnv1a().add_text(rest).value(), rest);
  }
  const InputFile file(bench, ".journal", choice.one_in(2) ? input : text);
  int64_t damaged = 0;
  const Result<ResultsByKey> read = read_journal(file.path(), damaged);
  if (!read) return told(read.error()), false;
  DiagnosticList problems;
  const auto source =
      std::make_shared<const SourceFile>(bench.folder + "/experiment.yaml",
                                         "modules: [a.hlo]\ndevices: [v5e]\nset: {clock: [1 GHz, 2 GHz]}\n"
                                         "objectives: [time]\n");
  const std::optional<Experiment> experiment = read_experiment(source, {}, problems);
  HLOSIM_CHECK(experiment, "{}", render(problems.items().front()));
  std::vector<SweepResult> results;
  for (const auto& [key, result] : *read) results.push_back(result);
  if (results.empty()) return false;
  while (results.size() < 2) results.push_back(results[0]);
  results.resize(2);
  show_in_every_form(*experiment, results, choice.one_in(2));
  return true;
}

bool read_device_file(const Bench& bench, const std::string& input, Random& choice) {
  const auto source = std::make_shared<const SourceFile>(bench.folder + "/device.yaml", input);
  DiagnosticList problems;
  const std::optional<Device> device = load_device(source, {}, {}, problems);
  HLOSIM_CHECK(told(problems) == device.has_value());
  if (!device) return false;
  to_text(*device);
  const std::string yaml = to_yaml(*device);
  DiagnosticList again;
  const std::optional<Device> same = load_device(source_of(yaml), {}, {}, again);
  HLOSIM_CHECK(same, "a device of ours isn't read: {}", render(again.items().front()));
  HLOSIM_CHECK(same->fingerprint() == device->fingerprint(), "a device of ours reads otherwise");
  const Pool& modules = bench.pool(InputForm::kModule);
  const auto read = read_right(choice.pick(modules.seeds).text);
  if (!read) return true;
  for (const Module& module : *read) {
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), *device, EstimateOptions{});
    if (!estimate) return told(estimate.error()), false;
    to_text(make_report(module, op_table(), *device, *estimate), {});
  }
  return true;
}

bool read_buffer_dump(const Bench&, const std::string& input, Random& choice) {
  const Result<BufferDump> dump = read_dump(source_of(input));
  if (!dump) return told(dump.error()), false;
  const auto steps = static_cast<int64_t>(dump->live_range.sequence.size());
  const auto at = static_cast<int64_t>(choice.below(4));
  dump_summary(*dump, {at < steps ? std::optional(at) : std::nullopt, choice.below(3)});
  usage_report(*dump);
  dump_overflows(*dump, {{0, 1000}, {1, 10}});
  for (const Diagnostic& difference : differences(*dump, *dump)) told(difference);
  const std::string text = to_text(*dump);
  const Result<BufferDump> again = read_dump(source_of(text));
  HLOSIM_CHECK(again, "a dump of ours isn't read: {}\n{}", again.error().message, text);
  HLOSIM_CHECK(to_text(*again) == text, "printing a dump isn't a fixed point\n{}\n{}", text, to_text(*again));
  return true;
}

bool diff_reports(const Bench& bench, const std::string& input, Random& choice) {
  DiagnosticList problems;
  const std::optional<Value> document = parse_json(source_of(input), problems);
  if (!document) return told(problems);
  const std::optional<Metrics> figures = read_report_figures(*document, problems);
  HLOSIM_CHECK(told(problems) == figures.has_value());
  if (!figures) return false;
  const std::optional<std::vector<Module>> modules = read_right(own_module(bench));
  const std::optional<Metrics> own = figures_of(modules->front(), bench.device("v5e"));
  const bool is_old = choice.one_in(2);
  const Diff diff = is_old ? make_diff(*figures, *own) : make_diff(*own, *figures);
  to_text(diff, {});
  to_markdown(diff, {});
  to_json(diff, "1");
  return true;
}

bool cost_custom_calls(const Bench& bench, const std::string& input, Random&) {
  DiagnosticList problems;
  const CustomCallCosts costs = read_custom_call_costs(source_of(input), problems);
  if (!told(problems)) return false;
  const auto modules = read_right(
      "HloModule m\nENTRY e {\n  x = f32[8,128] parameter(0)\n  y = f32[8,128] custom-call(x), "
      "custom_call_target=\"my_kernel\"\n  ROOT z = f32[8] custom-call(y), "
      "custom_call_target=\"other\"\n}\n");
  EstimateOptions options;
  options.simulate.custom_calls = &costs;
  const Device& device = bench.device("v5e");
  const Result<Estimate> estimate = hlosim::estimate(modules->front(), op_table(), device, options);
  if (!estimate) return told(estimate.error()), false;
  to_text(make_report(modules->front(), op_table(), device, *estimate), {});
  return true;
}

bool read_prefetch_knobs(const Bench& bench, const std::string& input, Random& choice) {
  PrefetchOptions options;
  if (const Result<void> read = read_knobs(options.knobs, source_of(input)); !read)
    return told(read.error()), false;
  knob_rows(options.knobs);
  options.algorithm = PrefetchAlgorithm::kXla;
  const auto modules = read_right(own_module(bench));
  const Result<PrefetchResult> tuned =
      tune_prefetch(modules->front(), op_table(), choice.pick(bench.devices), options);
  if (!tuned) told(tuned.error());
  return true;
}

bool configure_run(const Bench& bench, const std::string& input, Random& choice) {
  const InputFile file(bench, ".yaml", input);
  std::vector<std::string> args = {"report", "--config=" + file.path()};
  args.emplace_back(choice.one_in(8) ? "--no-lower" : "--print-config");
  if (choice.one_in(2)) args.push_back(bench.folder + "/a.hlo");
  return command(args);
}

bool compare_measured(const Bench&, const std::string& input, Random&) {
  const SourcePtr source = source_of(input);
  DiagnosticList problems;
  std::vector<MeasuredCase> cases = read_measured_cases(source, problems);
  if (!told(problems)) return false;
  if (cases.size() > 20) cases.resize(20);
  std::vector<Prediction> predictions = predict(cases, source->name(), {});
  const Accuracy accuracy = make_accuracy(std::move(cases), std::move(predictions));
  to_text(accuracy, {});
  to_markdown(accuracy, {});
  to_json(accuracy);
  to_svg(accuracy);
  return true;
}

}  // namespace hlosim::fuzz
