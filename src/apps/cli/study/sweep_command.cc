#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/exchange.h"
#include "console/input.h"
#include "console/progress.h"
#include "console/verbosity.h"
#include "model/version.h"
#include "study/sweep_run.h"
#include "study/sweep_table.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// Goes up with every change of what results mean, so that a journal of before isn't used; changes of the
/// model have their own number.
constexpr int kResultsVersion = 1;

struct SweepArguments {
  std::string file, output = "-", format = "text", svg, journal;
  bool no_journal = false, front = false;
  int64_t threads = 0;
};

/// Empty: none.
std::string journal_of(const SweepArguments& options) {
  if (!options.journal.empty()) return options.journal;
  return options.no_journal || options.file == "-" ? std::string() : options.file + ".journal";
}

std::string eta(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string status(const SweepProgress& progress, std::chrono::steady_clock::time_point start) {
  const int64_t done = progress.done, total = progress.total;
  std::string text = fmt::format("{} of {} points", done, total);
  if (done == 0 || done >= total) return text;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return text + fmt::format(", {} left", eta(passed.count() / static_cast<double>(done) *
                                             static_cast<double>(total - done)));
}

std::string table_text(const SweepArguments& options, const SweepTable& table) {
  if (options.format == "csv") return sweep_csv(table);
  if (options.format == "json") return sweep_json(table);
  return options.format == "markdown" ? sweep_markdown(table) : sweep_text(table);
}

/// What is worth a word besides the table.
bool report_run(const SweepRun& run, Streams streams) {
  int64_t failed = 0;
  for (const SweepResult& result : run.results) failed += !result.ok();
  if (run.resumed > 0)
    note(fmt::format("{} of {} points were in the journal", run.resumed, run.results.size()), streams);
  if (run.damaged > 0)
    note(fmt::format("{} line{} of the journal left out: torn or of another version", run.damaged,
                     run.damaged == 1 ? "" : "s"),
         streams);
  if (failed > 0) streams.err << fmt::format("hlosim: {} of {} points failed\n", failed, run.results.size());
  return failed == 0;
}

/// Those that a program gives which calls the command.
std::vector<SweepModule> modules_at_hand(Streams streams) {
  std::vector<SweepModule> modules;
  if (streams.exchange)
    for (const InputAtHand& input : streams.exchange->inputs) modules.push_back({input.path, input.source});
  return modules;
}

/// All ranks read the same: what is wrong is reported once, by the first.
Result<void> tell_problems(const DiagnosticList& problems, Streams streams) {
  Ranks& ranks = streams.ranks;
  const auto print = [&] { tell(problems, streams); };
  if (ranks.rank() == 0) print();
  if (ranks.size() == 1) return {};
  std::vector<int> peers;
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank()) peers.push_back(rank);
  if (auto met = ranks.meet(peers, {0, "the experiment"}); !met) return met;
  std::vector<Message> outgoing(peers.size(), Message(1, std::byte{problems.has_errors()})),
      incoming(peers.size(), Message(1));
  ranks.exchange(peers, outgoing, incoming);
  if (ranks.rank() != 0 && incoming[0][0] == std::byte{0}) print();
  return {};
}

/// The experiment's modules and devices are no outputs, nor is its journal another result. False, with what
/// is wrong printed.
bool claim_files(const SweepArguments& options, const Experiment& experiment, Streams streams) {
  const std::string journal = journal_of(options);
  Result<void> used;
  if (!journal.empty()) used = streams.files.writes("--journal", journal);
  for (const SweepModule& module : experiment.modules)
    if (used) used = streams.files.reads(module.source->name());
  if (!used) return tell(used.error(), streams), false;
  return std::ranges::all_of(
      experiment.devices, [&](const SweepDevice& device) { return claim_files_of(device.device, streams); });
}

int sweep(const SweepArguments& options, Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) {
    tell(diagnostic, streams);
    return kExitInput;
  };
  const Result<SourcePtr> source = read_input(options.file, streams);
  if (!source) return fail(source.error());
  const DeviceSearch search = DeviceSearch::from_environment();
  DiagnosticList problems;
  std::optional<Experiment> experiment = read_experiment(*source, search, problems, modules_at_hand(streams));
  if (const auto reported = tell_problems(problems, streams); !reported) return fail(reported.error());
  if (!experiment || !claim_files(options, *experiment, streams)) return kExitInput;
  experiment->load.limits = streams.limits;
  if (!streams.mlir.dimensions.empty()) experiment->load.mlir = streams.mlir;
  experiment->load.partial |= streams.partial;

  set_thread_count(static_cast<int>(options.threads));
  SweepOptions run_options;
  run_options.version =
      fmt::format("hlosim {} sweep {}, model {}", HLOSIM_VERSION, kResultsVersion, kModelVersion);
  run_options.journal = journal_of(options);
  SweepProgress own_progress;
  SweepProgress& progress =
      streams.exchange && streams.exchange->sweep ? *streams.exchange->sweep : own_progress;
  progress.stop = &streams.stop;
  const auto start = std::chrono::steady_clock::now();
  Result<SweepRun> run = [&] {
    const ProgressLine line(streams, "sweep", [&] { return status(progress, start); });
    return run_sweep(*experiment, run_options, streams.ranks, progress);
  }();
  set_thread_count(0);
  if (!run) return fail(run.error());
  if (streams.ranks.rank() != 0) return kExitSuccess;
  const SweepTable table{*experiment, run->results, pareto_front(*experiment, run->results), options.front};
  if (!write_output(options.output, table_text(options, table), streams)) return kExitInput;
  if (!options.svg.empty() && !write_output(options.svg, sweep_svg(table), streams)) return kExitInput;
  return report_run(*run, streams) ? kExitSuccess : kExitFailedCheck;
}

}  // namespace

std::function<int()> declare_sweep(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<SweepArguments>();
  line.add_option("FILE", options->file, "The experiment, YAML; - is standard input").required();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.add_option("--format", options->format, "text, csv, json or markdown")
      .one_of({"text", "csv", "json", "markdown"})
      .show_default();
  line.add_option("--svg", options->svg, "Write a plot (SVG)").writes_file(streams.files);
  line.add_flag("--front", options->front, "Only Pareto-optimal rows");
  line.add_option("--journal", options->journal,
                  "File that keeps results for the next run; default: FILE.journal")
      .writes_file(streams.files);
  line.add_flag("--no-journal", options->no_journal, "Neither keep nor reuse results");
  line.add_option("--threads", options->threads, "Number of threads of each rank; 0: one per processor")
      .between(0, kMostThreads)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return sweep(*options, streams); };
}

}  // namespace hlosim
