#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

#include "base/file_path.h"
#include "base/hash.h"
#include "cli/run.h"
#include "cli/study/compare_commands.h"
#include "cli/study/gate_advice.h"
#include "cli/tune/budget.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "estimate/estimate.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"
#include "report/figures.h"
#include "report/report.h"
#include "report/source_place.h"
#include "study/file_patterns.h"
#include "study/gate.h"
#include "text/escape.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

struct GateArguments {
  std::string config = "hlosim-gate.yaml";
  std::string baseline;
  bool update_baseline = false;
  std::string on_new, on_gone, on_incomparable, advise;
  std::string junit, sarif, markdown, json, benchmark, bencher;
  bool github = false;
};

/// Of the repository that GitHub checked out, whose names of files annotations have; else empty.
std::string root_of_job() {
  const char* const root = std::getenv("GITHUB_WORKSPACE");
  if (!root || !*root) return {};
  std::error_code ignored;
  return without_detours(fs::absolute(root, ignored)).string();
}

/// From the configuration to the figures of every module on every device.
class Gate {
 public:
  Gate(const GateArguments& options, Streams streams) : options_(options), streams_(streams) {}

  int run() {
    if (!read_config() || !read_devices() || !read_baseline_file()) return kExitInput;
    find_files();
    if (!claim_files()) return kExitInput;
    for (const auto& [file, path] : files_) read_modules_of(file, path);
    if (unused_costs_)
      for (const Diagnostic& warning : unused_costs_->warnings()) tell(warning, streams_);
    GateResult result = judge(*config_, runs_, baseline_);
    if (adviser_ && !options_.update_baseline && !adviser_->add_to(result, runs_, streams_))
      return kExitInput;
    result.errors = errors_;
    result.config = options_.config;
    if (options_.github) result.root = root_of_job();
    if (result.errors.empty())
      for (const Diagnostic& warning : idle_parts(*config_, result)) tell(warning, streams_);
    result.has_baseline = has_baseline_ || options_.update_baseline;
    // What couldn't be read or run isn't gone.
    std::erase_if(result.gone, [&](const GateGone& gone) {
      const std::string file = key_text(gone.file);
      return failed_.count({file, ""}) || failed_.count({file, valid_utf8(gone.device)});
    });
    const bool written = write_results(result);
    if (!written) return kExitInput;
    return options_.update_baseline ? update(result) : result.exit_code();
  }

 private:
  bool fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return false;
  }

  bool read_config() {
    const Result<SourcePtr> source = read_input(options_.config, streams_);
    if (!source) {
      Diagnostic diagnostic = source.error();
      if (diagnostic.hint.empty())
        diagnostic.hint = "`hlosim init` writes an example; --config names another file";
      return fail(diagnostic);
    }
    DiagnosticList problems;
    config_ = read_gate_config(*source, problems);
    tell(problems, streams_);
    if (!config_) return false;
    if (!options_.on_new.empty()) config_->on_new = *parse_gate_policy(options_.on_new);
    if (!options_.on_gone.empty()) config_->on_gone = *parse_gate_policy(options_.on_gone);
    if (!options_.on_incomparable.empty())
      config_->on_incomparable = *parse_gate_policy(options_.on_incomparable);
    if (!read_advise()) return false;
    folder_ = options_.config == "-" ? fs::path() : fs::path(options_.config).parent_path();
    return true;
  }

  /// The option counts before the configuration.
  bool read_advise() {
    const bool is_option = !options_.advise.empty();
    const std::string& text = is_option ? options_.advise : config_->advise.text;
    if (text.empty()) return true;
    const Result<double> seconds = budget_seconds(text, is_option ? "--advise" : "advise");
    if (!seconds && is_option) return fail(seconds.error());
    if (!seconds) return fail(error_at(config_->advise.place, seconds.error().message, seconds.error().hint));
    adviser_.emplace(*seconds);
    return true;
  }

  std::string beside_config(const std::string& name) const {
    return without_detours(folder_ / name).generic_string();
  }

  /// Files of flags lie beside the configuration, too.
  std::string flags_of(const std::string& text) const {
    return text.starts_with('@') ? "@" + beside_config(text.substr(1)) : text;
  }

  bool read_devices() {
    // What the command line says counts before the configuration.
    if (streams_.mlir.dimensions.empty()) streams_.mlir.dimensions = config_->dimensions;
    streams_.partial |= config_->partial;
    SimulationOptions one;
    for (const GateText& value : config_->set) one.choices.overrides.push_back(value.text);
    for (const GateText& value : config_->xla_flags) one.choices.xla_flags.push_back(flags_of(value.text));
    one.topology = config_->topology.text;
    one.mesh.all_in_one = config_->mesh.text;
    one.slices = config_->slices;
    one.while_trip_count = config_->while_trip_count;
    one.no_lower = !config_->lower;
    one.mesh.no_partition = !config_->partition;
    const std::string& costs = config_->custom_call_costs.text;
    if (!costs.empty()) one.custom_call_costs = beside_config(costs);
    for (const GateText& device : config_->devices) {
      std::error_code ignored;
      const std::string path = beside_config(device.text);
      one.device = fs::is_regular_file(path, ignored) ? path : device.text;
      std::optional<SimulationSetting> setting = read_simulation(one, streams_);
      if (!setting) {
        const Value& place = culprit(device, one);
        return fail(error_at(place, fmt::format("device '{}' can't be used{}", device.text,
                                                &place == &device.place ? "" : " with this")));
      }
      settings_.push_back(std::move(*setting));
    }
    if (!settings_.empty()) unused_costs_.emplace(*settings_.front().custom_calls);
    return read_options_text();
  }

  /// Where the configuration says what `all` fails for: the first part that fails by itself, else the device.
  const Value& culprit(const GateText& device, const SimulationOptions& all) const {
    std::ostringstream silent;
    const auto works = [&](const SimulationOptions& part) {
      const Streams quiet{
          streams_.in,        silent,          silent,        streams_.ranks, streams_.standard_input,
          streams_.verbosity, streams_.limits, streams_.stop, streams_.mlir,  streams_.partial,
          streams_.files};
      return read_simulation(part, quiet).has_value();
    };
    SimulationOptions bare;
    bare.device = all.device;
    if (!works(bare)) return device.place;
    for (const GateText& value : config_->set) {
      SimulationOptions part = bare;
      part.choices.overrides = {value.text};
      if (!works(part)) return value.place;
    }
    for (const GateText& value : config_->xla_flags) {
      SimulationOptions part = bare;
      part.choices.xla_flags = {flags_of(value.text)};
      if (!works(part)) return value.place;
    }
    SimulationOptions part = bare;
    part.custom_call_costs = all.custom_call_costs;
    if (!works(part)) return config_->custom_call_costs.place;
    part = bare;
    part.mesh = all.mesh;
    if (!works(part)) return config_->mesh.place;
    part = bare;
    part.topology = all.topology;
    return works(part) ? device.place : config_->topology.place;
  }

  // What the numbers depend on besides module, device and model.
  bool read_options_text() {
    options_text_ = fmt::format("topology {}, slices {}, while_trip_count {}, lower {}",
                                config_->topology.text.empty() ? "of the module" : config_->topology.text,
                                config_->slices, config_->while_trip_count, config_->lower);
    if (!config_->mesh.text.empty()) options_text_ += ", mesh " + config_->mesh.text;
    if (!config_->partition) options_text_ += ", partition false";
    for (const stablehlo::DimensionSize& one : streams_.mlir.dimensions)
      options_text_ += fmt::format(", dim {}={}", one.name, one.size);
    if (streams_.partial) options_text_ += ", partial";
    if (config_->custom_call_costs.text.empty()) return true;
    const Result<SourcePtr> costs = read_input(beside_config(config_->custom_call_costs.text), streams_);
    if (!costs) return fail(costs.error());
    options_text_ += fmt::format(", custom_call_costs {:016x}", Fnv1a().add_text((*costs)->text()).value());
    return true;
  }

  bool read_baseline_file() {
    const bool by_name = config_->baseline.empty();
    const std::string name = by_name ? default_baseline(options_.config) : config_->baseline;
    baseline_path_ = options_.baseline.empty() ? beside_config(name) : options_.baseline;
    std::error_code ignored;
    // Links to nothing, and what isn't to be reached, are told as what they are.
    const bool is_there = baseline_path_ == "-"
                              ? !options_.update_baseline
                              : fs::status(baseline_path_, ignored).type() != fs::file_type::not_found;
    if (!is_there && !options_.update_baseline &&
        (!by_name || !options_.baseline.empty() || is_link(baseline_path_)))
      return fail(failure(fmt::format("there is no baseline '{}'", baseline_path_),
                          "--update-baseline makes the present numbers one")
                      .value());
    if (!is_there) {
      const std::string other = beside_config("hlosim-baseline.json");
      if (by_name && options_.baseline.empty() && !options_.update_baseline && fs::exists(other, ignored))
        warn(fmt::format("there is no {}, but {}: `baseline:` in {} names another than its own name does",
                         baseline_path_, other, options_.config),
             streams_);
      return true;
    }
    const Result<SourcePtr> source =
        baseline_path_ == "-" ? read_input("-", streams_) : read_source(baseline_path_);
    if (!source) return fail(source.error());
    DiagnosticList problems;
    std::optional<Baseline> read = read_baseline(*source, problems);
    has_baseline_ = true;
    if (read) {
      baseline_ = std::move(*read);
      return true;
    }
    tell(problems, streams_);
    return options_.update_baseline;  // then it is made anew
  }

  static bool is_link(const std::string& path) {
    std::error_code ignored;
    return fs::is_symlink(fs::symlink_status(path, ignored));
  }

  /// The baseline and the modules, which are read here. (What reads the other files does so itself.)
  bool claim_files() {
    Result<void> used = options_.update_baseline ? streams_.files.writes("the baseline", baseline_path_)
                                                 : streams_.files.reads(baseline_path_);
    for (auto file = files_.begin(); used && file != files_.end(); ++file)
      used = streams_.files.reads(file->second == "-" ? "./-" : file->second);
    return used || fail(used.error());
  }

  void error(const std::string& file, const std::string& device, const Diagnostic& what) {
    const int64_t line =
        what.source && what.source->name() == file && has_lines(*what.source) && !printed_.count(file)
            ? what.source->locate(what.offset).line
            : 0;
    errors_.push_back({file, device, what.message, line});
  }

  void find_files() {
    std::set<std::string> known;
    std::error_code ignored;
    for (const GateText& pattern : config_->modules) {
      const std::vector<std::string> found = files_that_fit(folder_, pattern.text);
      if (found.empty()) {
        const Diagnostic diagnostic = error_at(pattern.place, fmt::format("no file fits '{}'", pattern.text));
        fail(diagnostic);
        error(options_.config, "", diagnostic);
      }
      for (const std::string& file : found)
        if (const std::string path = beside_config(file);
            known.insert(without_detours(fs::absolute(path, ignored)).string()).second)
          files_.emplace(file, path);
    }
  }

  /// What is wrong is told; the first of it is an error of the file.
  std::vector<Module> modules_of(const std::string& path) {
    const Step reading(fmt::format("read {}", path), streams_);
    // A file is looked at once: a pipe has nothing to say a second time.
    Result<SourcePtr> source = read_source(path == "-" ? "./-" : path);
    bool was_printed = false;
    if (source) source = as_text(std::move(*source), &was_printed);
    if (was_printed) printed_.insert(path);
    if (!source) {
      fail(source.error());
      error(path, "", source.error());
      return {};
    }
    DiagnosticList problems;
    std::vector<Module> modules =
        load_modules(*source, op_table(), problems, {streams_.limits, streams_.mlir, streams_.partial});
    tell(problems, streams_);
    const auto first = std::find_if(problems.items().begin(), problems.items().end(),
                                    [](const Diagnostic& one) { return one.severity == Severity::kError; });
    if (first != problems.items().end()) {
      error(path, "", *first);
      return {};
    }
    if (modules.empty()) error(path, "", failure("there is no module in it").value());
    return modules;
  }

  void read_modules_of(const std::string& file, const std::string& path) {
    const std::vector<Module> modules = modules_of(path);
    if (modules.empty()) failed_.insert({key_text(file), ""});
    std::map<std::string, int64_t> numbers;
    for (const Module& module : modules) {
      if (unused_costs_) unused_costs_->add(module);
      const int64_t number = numbers[std::string(module.name)]++;
      const auto kept = adviser_ ? std::make_shared<const Module>(module.copy()) : nullptr;
      for (size_t i = 0; i < settings_.size(); ++i)
        if (run_module(module, file, path, number, i) && kept) adviser_->keep(kept, settings_[i]);
    }
  }

  /// False: it can't be simulated, which is an error of the file.
  bool run_module(const Module& module, const std::string& file, const std::string& path, int64_t number,
                  size_t device) {
    const SimulationSetting& setting = settings_[device];
    const Step step(fmt::format("simulated {} of {} on {}", module.name, path, config_->devices[device].text),
                    streams_);
    warn_of_unpartitioned(module, !config_->partition, streams_);
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), setting.device, setting.estimate);
    if (!estimate) {
      fail(estimate.error());
      failed_.insert({key_text(file), valid_utf8(config_->devices[device].text)});
      error(path, config_->devices[device].text, estimate.error());
      return false;
    }
    GateRun run;
    run.file = file;
    run.path = path;
    run.device = config_->devices[device].text;
    run.options = options_text_;
    run.number = number;
    run.scheduled = module.is_scheduled();
    const Report report = make_report(module, op_table(), setting.device, *estimate);
    run.figures = make_figures(report, module, op_table(), *estimate);
    if ((module.source && !has_lines(*module.source)) || printed_.count(path)) {
      run.figures.line = 0;
      for (InstructionMetrics& one : run.figures.instructions) one.line = 0;
    }
    runs_.push_back(std::move(run));
    return true;
  }

  bool write_results(const GateResult& result) {
    const std::pair<const std::string&, std::string (*)(const GateResult&)> outputs[] = {
        {options_.junit, [](const GateResult& r) { return to_junit(r); }},
        {options_.sarif, [](const GateResult& r) { return to_sarif(r, HLOSIM_VERSION); }},
        {options_.markdown, [](const GateResult& r) { return to_markdown(r); }},
        {options_.json, [](const GateResult& r) { return to_json(r, HLOSIM_VERSION); }},
        {options_.benchmark, [](const GateResult& r) { return to_benchmark_json(r); }},
        {options_.bencher, [](const GateResult& r) { return to_bencher_json(r); }},
    };
    bool to_standard_output = false;
    for (const auto& [path, print] : outputs) {
      if (path.empty()) continue;
      to_standard_output = to_standard_output || path == "-";
      if (!write_output(path, print(result), streams_)) return false;
    }
    if (options_.update_baseline) return true;  // no verdict is asked for
    if (to_standard_output)
      streams_.err << to_text(result, error_paint(streams_));
    else
      streams_.out << to_text(result, output_paint("-", streams_));
    return !options_.github || tell_github(result, to_standard_output);
  }

  // The summary file is shared by all steps of a job: it is appended to.
  bool tell_github(const GateResult& result, bool to_standard_output) {
    (to_standard_output ? streams_.err : streams_.out) << to_annotations(result);
    const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
    if (!summary || !*summary) return true;
    if (const Result<void> used = streams_.files.writes("$GITHUB_STEP_SUMMARY", summary); !used)
      return fail(used.error());
    std::ofstream file(summary, std::ios::app | std::ios::binary);
    file << to_markdown(result);
    file.flush();
    if (file) return true;
    return fail(failure(fmt::format("cannot write '{}', which $GITHUB_STEP_SUMMARY names", summary)).value());
  }

  int update(const GateResult& result) {
    if (!result.errors.empty()) {
      complain("the baseline stays as it is: not everything could be read", "", streams_);
      return kExitInput;
    }
    Baseline baseline;
    baseline.runs = std::move(runs_);
    if (!write_output(baseline_path_, to_json(baseline, HLOSIM_VERSION), streams_)) return kExitInput;
    note(fmt::format("wrote {}: {} run{}", baseline_path_, baseline.runs.size(),
                     baseline.runs.size() == 1 ? "" : "s"),
         streams_);
    return kExitSuccess;
  }

  const GateArguments& options_;
  Streams streams_;
  std::optional<GateConfig> config_;
  fs::path folder_;
  std::vector<SimulationSetting> settings_;  // by device
  std::string options_text_;
  std::string baseline_path_;
  Baseline baseline_;
  bool has_baseline_ = false;
  std::map<std::string, std::string> files_;  // as the configuration finds them, with the path to open
  std::vector<GateRun> runs_;
  std::vector<GateError> errors_;
  std::set<std::pair<std::string, std::string>>
      failed_;                     // file and device as keys write them, all devices: ""
  std::set<std::string> printed_;  // paths of protos: nobody has seen the lines of their text
  std::optional<UnusedCustomCallCosts> unused_costs_;
  std::optional<GateAdviser> adviser_;  // where advice is asked for
};

struct InitOptions {
  std::string output = "hlosim-gate.yaml";
  bool force = false;
};

int init(const InitOptions& options, Streams streams) {
  std::error_code ignored;
  if (options.output != "-" && !options.force && fs::exists(options.output, ignored)) {
    complain(fmt::format("'{}' is there already", options.output), "--force replaces it", streams);
    return kExitInput;
  }
  if (!write_output(options.output, gate_config_template(default_baseline(options.output)), streams))
    return kExitInput;
  if (options.output != "-") {
    note(fmt::format("wrote {}", options.output), streams);
    note(fmt::format("next: edit it, then `hlosim gate --config={} --update-baseline`", options.output),
         streams);
  }
  return kExitSuccess;
}

}  // namespace

std::function<int()> declare_gate(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<GateArguments>();
  line.add_option("--config", options->config, "What to watch over (docs/gate.md); `hlosim init` writes one")
      .show_default();
  line.add_option("--baseline", options->baseline,
                  "The baseline, instead of the one that the configuration names");
  line.add_flag("--update-baseline", options->update_baseline, "Make the present values the baseline");
  line.add_option("--on-new", options->on_new, "A module that the baseline doesn't know: pass, warn or fail")
      .one_of({"pass", "warn", "fail"});
  line.add_option("--on-gone", options->on_gone, "A module that only the baseline has: pass, warn or fail")
      .one_of({"pass", "warn", "fail"});
  line.add_option("--on-incomparable", options->on_incomparable,
                  "Baseline of another device, options or model version: pass, warn or fail")
      .one_of({"pass", "warn", "fail"});
  line.add_option(
      "--advise", options->advise,
      "Try changes of modules that got slower for that long, as in 10s (0: no limit); the failure has the "
      "largest saving");
  line.add_option("--junit", options->junit, "Write JUnit XML; - is standard output")
      .writes_file(streams.files);
  line.add_option("--sarif", options->sarif, "Write SARIF 2.1.0").writes_file(streams.files);
  line.add_option("--markdown", options->markdown, "Write Markdown for a pull request")
      .writes_file(streams.files);
  line.add_option("--json", options->json, "Write JSON").writes_file(streams.files);
  line.add_option("--benchmark-json", options->benchmark,
                  "Write JSON for github-action-benchmark (customSmallerIsBetter)")
      .writes_file(streams.files);
  line.add_option("--bencher-json", options->bencher, "Write the Bencher metric format")
      .writes_file(streams.files);
  line.add_flag("--github", options->github, "Print annotations; append to $GITHUB_STEP_SUMMARY");
  return [options, streams] { return Gate(*options, streams).run(); };
}

std::function<int()> declare_init(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<InitOptions>();
  line.add_option("-o,--output", options->output, "The file to write; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.add_flag("--force", options->force, "Overwrite an existing file");
  return [options, streams] { return init(*options, streams); };
}

}  // namespace hlosim
