#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/text_output.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "profile/xspace_writer.h"
#include "report/trace/trace.h"

namespace hlosim {
namespace {

struct TraceArguments : SimulationOptions {
  std::string output = "-", format;
  int64_t max_events = TraceOptions().max_events;
};

enum class Format { kJson, kJsonGz, kPerfetto, kSvg, kXplane };

/// One module's run and what is drawn of it.
struct Traced {
  std::shared_ptr<const Estimate> estimate;
  Trace trace;
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Result<Format> format_of(const TraceArguments& options) {
  const std::string& path = options.output;
  if (options.format == "xplane") {
    if (path == "-")
      return failure("--format=xplane: --output is missing",
                     "the log folder, as XProf and TensorBoard take it");
    return Format::kXplane;
  }
  if (options.format == "json") return ends_with(path, ".gz") ? Format::kJsonGz : Format::kJson;
  if (options.format == "perfetto") return Format::kPerfetto;
  if (options.format == "svg") return Format::kSvg;
  if (path == "-" || ends_with(path, ".json")) return Format::kJson;
  if (ends_with(path, ".json.gz")) return Format::kJsonGz;
  if (ends_with(path, ".pftrace") || ends_with(path, ".perfetto-trace")) return Format::kPerfetto;
  if (ends_with(path, ".svg")) return Format::kSvg;
  return failure(fmt::format("--output: '{}' doesn't tell the format of a trace", shown(path)),
                 "its name ends in .json, .json.gz, .pftrace or .svg; or --format names it");
}

void write(Format format, const std::vector<Trace>& traces, const TextSink& out) {
  switch (format) {
    case Format::kJson:
      return write_chrome_json(traces, out);
    case Format::kJsonGz:
      return write_gzip([&](const TextSink& text) { write_chrome_json(traces, text); }, out);
    case Format::kPerfetto:
      return write_perfetto_trace(traces, out);
    case Format::kSvg:
      return out(timeline_svg(traces.front()));
    case Format::kXplane:
      break;
  }
}

/// LOGDIR/plugins/profile/predicted/hlosim.xplane.pb, where XProf looks for it.
int write_xspace(const TraceArguments& options, const Device& device, const std::vector<Traced>& traced,
                 Streams streams) {
  std::vector<PredictedRun> runs;
  for (const Traced& one : traced) runs.push_back({one.estimate.get(), &one.trace});
  const Result<std::string> bytes = xspace_of(runs, op_table(), device);
  if (!bytes) return tell(bytes.error(), streams), kExitInput;
  const std::string folder = options.output + "/plugins/profile/predicted";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return tell(failure(fmt::format("cannot make '{}': {}", folder, error.message())).value(), streams),
           kExitInput;
  return write_output(folder + "/hlosim.xplane.pb", *bytes, streams) ? kExitSuccess : kExitInput;
}

std::optional<Traced> trace_module(const Module& module, const SimulationSetting& setting,
                                   const TraceArguments& options, Streams streams) {
  Result<Estimate> estimate = hlosim::estimate(module, op_table(), setting.device, setting.estimate);
  if (estimate) {
    auto kept = std::make_shared<const Estimate>(std::move(*estimate));
    Trace trace = make_trace(op_table(), setting.device, *kept, {.max_events = options.max_events});
    return Traced{std::move(kept), std::move(trace)};
  }
  Diagnostic diagnostic = estimate.error();
  if (!diagnostic.source) diagnostic.message = fmt::format("module {}: {}", module.name, diagnostic.message);
  tell(diagnostic, streams);
  return std::nullopt;
}

int write_traces(Format format, std::vector<Traced> traced, const TraceArguments& options,
                 const Device& device, Streams streams) {
  if (format == Format::kSvg && traced.size() > 1) {
    tell(failure(fmt::format("a picture shows one module, there are {}", traced.size()),
                 "--module chooses one")
             .value(),
         streams);
    return kExitInput;
  }
  for (const Traced& one : traced)
    if (one.trace.shown_iterations > 0)
      note(fmt::format("{}: loops show their first {} iterations only (--max-events={})", one.trace.name,
                       one.trace.shown_iterations, options.max_events),
           streams);
  if (format == Format::kXplane) return write_xspace(options, device, traced, streams);
  std::vector<Trace> traces;
  for (Traced& one : traced) traces.push_back(std::move(one.trace));
  const TextSource text = [&](const TextSink& out) { write(format, traces, out); };
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

int trace(const TraceArguments& options, bool names_output, Streams streams) {
  if (!names_output && writes_to_terminal(streams)) {
    complain("a trace is too long for a terminal",
             "-o trace.json.gz writes it for ui.perfetto.dev, -o trace.svg a picture; -o - prints it",
             streams);
    return kExitInput;
  }
  const Result<Format> format = format_of(options);
  if (!format) {
    tell(format.error(), streams);
    return kExitInput;
  }
  std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  setting->estimate.simulate.keep_timeline = true;
  std::vector<Traced> traced;
  const bool ok = for_each_chosen(options, *setting, streams, [&](const Module& module) {
    std::optional<Traced> one = trace_module(module, *setting, options, streams);
    if (one) traced.push_back(std::move(*one));
    // What is drawn but once needs no run kept for it.
    if (one && *format != Format::kXplane) traced.back().estimate = nullptr;
    return one.has_value();
  });
  if (!ok) return kExitInput;
  return write_traces(*format, std::move(traced), options, setting->device, streams);
}

}  // namespace

std::function<int()> declare_trace(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TraceArguments>();
  declare_simulation(line, *options);
  const Option output = line.add_option("-o,--output", options->output,
                                        "Output file, its format by its name: .json or .json.gz (Chrome's "
                                        "format), .pftrace (Perfetto's), "
                                        ".svg (a picture); - is JSON on standard output, the default where "
                                        "that is not a terminal; with --format=xplane "
                                        "a log folder")
                            .writes_file(streams.files)
                            .show_default();
  line.add_option("--format", options->format,
                  "json, perfetto, svg, or xplane: a log folder for XProf; by default from the output's name")
      .one_of({"json", "perfetto", "svg", "xplane"});
  line.add_option("--max-events", options->max_events,
                  "Maximum number of slices; beyond it, loops show their first iterations only")
      .from(1)
      .show_default();
  return [options, output, streams] { return trace(*options, output.count() > 0, streams); };
}

}  // namespace hlosim
