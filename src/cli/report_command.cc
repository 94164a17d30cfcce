#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/module_files.h"
#include "cli/run.h"
#include "cli/simulation_setting.h"
#include "memory/dump.h"
#include "ops/op_table.h"
#include "report/dump_table.h"
#include "report/estimate.h"
#include "report/html.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/trace.h"

namespace hlosim {
namespace {

struct Options : SimulationOptions {
  std::string format = "text";
  std::string output = "-";
  int64_t top = 10;
  bool timeline = false;
  bool list = false;
  std::string fail_on;
};

/// The report of one module; says what is wrong.
std::optional<Report> report_module(Module& module, const SimulationSetting& setting, const Options& options,
                                    Streams streams, std::vector<HtmlModule>& html) {
  SimulateOptions simulate = setting.simulate;
  simulate.custom_calls = &setting.custom_calls;
  Estimator estimator(module, op_table(), setting.lowering);
  const Result<Estimate> estimate = estimator.run(setting.device, simulate);
  if (!estimate) {
    Diagnostic diagnostic = estimate.error();
    if (!diagnostic.source)
      diagnostic.message = fmt::format("module {}: {}", module.name, diagnostic.message);
    streams.err << render(diagnostic);
    return std::nullopt;
  }
  Report report = make_report(module, op_table(), setting.device, *estimate);
  if (options.timeline)
    report.timeline = timeline_text(make_trace(module, op_table(), setting.device, *estimate));
  report.unused_keys = keys_without_effect(estimator, setting.device, simulate, *estimate);
  if (options.format == "html")
    html.push_back(html_module(module, op_table(), setting.device, *estimate, report, HLOSIM_VERSION));
  return report;
}

/// What XLA allocates by the buffer assignment beside the module; a dump that can't be read is a warning.
std::optional<Bytes> xla_allocates(const DumpedModule& dumped, Streams streams) {
  if (dumped.buffers.empty()) return std::nullopt;
  const Result<SourcePtr> source = read_input(dumped.buffers, streams);
  const Result<BufferDump> dump = source ? read_dump(*source) : tl::unexpected(source.error());
  if (dump) {
    Bytes sum{};  // not every dump has its total
    for (const DumpAllocation& allocation : dump->allocations) sum += Bytes(allocation.size);
    return sum;
  }
  Diagnostic warning = dump.error();
  warning.severity = Severity::kWarning;
  streams.err << render(warning);
  return std::nullopt;
}

/// The modules of folders as one table; empty when that is not what was asked for.
std::string overview(const std::vector<Report>& reports, const Options& options, Streams streams) {
  if (options.format != "text" || options.timeline || reports.size() < 2) return {};
  const auto folder = std::find_if(options.files.begin(), options.files.end(), is_folder);
  if (folder == options.files.end()) return {};
  const std::optional<std::vector<ModuleFile>> files = module_files(options.files, streams);
  if (!files) return {};
  std::vector<DumpTableRow> rows;
  for (const Report& report : reports) {
    const auto file = std::find_if(files->begin(), files->end(),
                                   [&](const ModuleFile& one) { return one.path == report.module_file; });
    DumpTableRow row;
    row.report = &report;
    if (file != files->end() && file->dumped) {
      row.stage = file->dumped->best_stage();
      row.xla_allocates = xla_allocates(*file->dumped, streams);
    }
    rows.push_back(std::move(row));
  }
  return dump_table(options.files.size() == 1 ? *folder : "several files", rows);
}

int list(const Options& options, Streams streams) {
  const Result<ModuleChoice> choice = ModuleChoice::parse(options.module);
  if (!choice) {
    streams.err << render(choice.error());
    return kExitInput;
  }
  const std::optional<std::vector<ModuleFile>> files = module_files(options.files, streams);
  if (!files) return kExitInput;
  const std::string table =
      file_list(*files, [&](std::string_view name, size_t index) { return choice->takes(name, index); });
  if (table.empty()) {
    streams.err << render(failure(fmt::format("--module: no module is called or numbered '{}'", options.module)).value());
    return kExitInput;
  }
  return write_output(options.output, table, streams) ? kExitSuccess : kExitInput;
}

std::string printed(const std::vector<Report>& reports, const std::vector<HtmlModule>& html,
                    const Options& options) {
  std::string text;
  if (options.format == "html") return html_page(html);
  if (options.format == "csv") return to_csv(reports);
  if (options.format == "json") {
    std::vector<std::string> documents;
    for (const Report& report : reports) documents.push_back(to_json(report, HLOSIM_VERSION));
    return json_documents(documents);
  }
  for (const Report& report : reports) {
    if (!text.empty()) text += "\n\n";
    text += to_text(report, {.top = static_cast<size_t>(options.top)});
  }
  return text;
}

/// CSV has no place for it.
void warn_of_unused_keys(const Report& report, Streams streams) {
  for (const UnusedKey& key : report.unused_keys.keys)
    streams.err << fmt::format("hlosim: warning: {}{} = {} had no effect on {}\n",
                               key.from_set ? "--set " : "", key.path, key.text, report.module_name);
}

int report(const Options& options, Streams streams) {
  if (options.list) return list(options, streams);
  std::optional<SimulationSetting> setting = read_simulation(options, streams);
  if (!setting) return kExitInput;
  setting->simulate.keep_timeline = options.timeline || options.format == "html";
  std::vector<std::unique_ptr<Module>> modules;  // a report's names are views into its module
  std::vector<Report> reports;
  std::vector<HtmlModule> html;
  const bool ok = for_each_chosen(options, *setting, streams, modules, [&](Module& module) {
    std::optional<Report> one = report_module(module, *setting, options, streams, html);
    if (one) reports.push_back(std::move(*one));
    return one.has_value();
  });
  if (reports.empty()) return kExitInput;
  if (options.format == "csv")
    for (const Report& one : reports) warn_of_unused_keys(one, streams);
  std::string text = overview(reports, options, streams);
  if (text.empty()) text = printed(reports, html, options);
  if (!write_output(options.output, text, streams) || !ok) return kExitInput;
  const bool oom =
      std::any_of(reports.begin(), reports.end(), [](const Report& r) { return !r.overflows().empty(); });
  return oom && options.fail_on == "oom" ? kExitFailedCheck : kExitSuccess;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app, Streams streams) {
  const auto options = std::make_shared<Options>();
  declare_simulation(app, *options);
  app.add_option("--format", options->format, "text, json, csv or html (one page for a browser)")
      ->check(CLI::IsMember({"text", "json", "csv", "html"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Output file; - is standard output")->capture_default_str();
  app.add_option("--top", options->top, "Rows of the longest lists in the text; 0: all")
      ->check(whole_number_from(0))
      ->capture_default_str();
  app.add_flag("--list", options->list, "Only tell which modules there are, and which files belong to each");
  app.add_flag("--timeline", options->timeline, "Draw what runs when, in text");
  app.add_option("--fail-on", options->fail_on,
                 "Exit with 1 when the module doesn't fit into the device's memory")
      ->check(CLI::IsMember({"oom"}));
  return [options, streams] { return report(*options, streams); };
}

}  // namespace hlosim
