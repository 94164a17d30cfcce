#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "advise/advice_text.h"
#include "advise/advise.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/report/dump_buffers.h"
#include "cli/report/dump_stages.h"
#include "cli/report/report_formats.h"
#include "cli/report/saved_reports.h"
#include "cli/run.h"
#include "cli/tune/budget.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/module_files.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "ops/op_table.h"
#include "report/dump_table.h"
#include "report/estimated_report.h"
#include "report/report_text.h"
#include "report/trace/trace.h"
#include "study/diff.h"

namespace hlosim {
namespace {

struct ReportArguments : SimulationOptions {
  std::string format = "text";
  std::string output = "-", html, source_link;
  int64_t top = 10;
  bool full = false;
  bool timeline = false;
  bool list = false;
  bool before = false, diff = false;
  std::string fail_on, advise;
  std::optional<double> advise_seconds;  // of --advise
};

/// Changes that pay, tried for --advise's time. Null, with what is wrong printed.
std::optional<std::vector<ReportAdvice>> tried_advice(const Module& module, const SimulationSetting& setting,
                                                      double seconds, Streams streams) {
  const TrialSetup setup{std::nullopt, std::make_shared<const Module>(module.copy()), setting.device,
                         setting.estimate};
  AdviceOptions options;
  options.budget = seconds, options.worth = 0, options.stop = &streams.stop;
  const Result<AdviceReport> found = advise(setup, op_table(), options);
  if (!found) return tell(found.error(), streams), std::nullopt;
  return advice_of_report(*found);
}

/// The report of one module; says what is wrong.
std::optional<Report> report_module(const Module& module, const SimulationSetting& setting,
                                    const ReportArguments& options, const ReportFormat& format,
                                    Streams streams, ReportResults& results) {
  const Step step(fmt::format("simulated {}", module.name), streams);
  Result<EstimatedReport> made = estimated_report(module, op_table(), setting.device, setting.estimate);
  if (!made) return tell(made.error(), streams), std::nullopt;
  auto& [estimate, report] = *made;
  if (options.timeline) report.timeline = timeline_text(make_trace(op_table(), setting.device, estimate));
  if (options.advise_seconds) {
    auto advice = tried_advice(module, setting, *options.advise_seconds, streams);
    if (!advice) return std::nullopt;
    results.advice.push_back(std::move(*advice));
  }
  if (format.takes_pages) {
    HtmlOptions page;
    if (options.advise_seconds) page.advice = &results.advice.back();
    results.pages.push_back(html_module(op_table(), setting.device, estimate, report, HLOSIM_VERSION, page));
  }
  if (format.takes_figures || options.before)
    results.figures.push_back(make_figures(report, module, op_table(), estimate));
  return std::move(report);
}

/// The modules of folders as one table; empty when that is not what was asked for.
std::string overview(const std::vector<Report>& reports, const ReportArguments& options,
                     const ReportFormat& format, Streams streams) {
  if (!format.is_for_people || options.timeline || reports.size() < 2) return {};
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

int list(const ReportArguments& options, Streams streams) {
  const Result<ModuleChoice> choice = ModuleChoice::parse(options.module);
  if (!choice) {
    tell(choice.error(), streams);
    return kExitInput;
  }
  const std::optional<std::vector<ModuleFile>> files = module_files(options.files, streams);
  if (!files) return kExitInput;
  const std::string table =
      file_list(*files, [&](std::string_view name, size_t index) { return choice->takes(name, index); });
  if (table.empty()) {
    tell(failure(fmt::format("--module: no module is called or numbered '{}'", options.module)).value(),
         streams);
    return kExitInput;
  }
  return write_output(options.output, table, streams) ? kExitSuccess : kExitInput;
}

/// What modules of folders were before optimisation; nullopt, with what is wrong printed, when that isn't
/// known.
std::optional<std::string> stages(ReportResults& results, const SimulationSetting& setting,
                                  const ReportArguments& options, Streams streams) {
  const std::optional<std::vector<ModuleFile>> files = module_files(options.files, streams);
  if (!files) return std::nullopt;
  const auto pairs = stage_pairs(*files, std::move(results.figures), setting, streams);
  if (!pairs) return std::nullopt;
  const Paint paint = output_paint(options.output, streams);
  std::string text = "\n" + stages_table(*pairs, paint);
  if (!options.diff) return text;
  for (const StagePair& pair : *pairs)
    text += "\n\n" + to_text(make_diff(pair.before, pair.after),
                             {.top = static_cast<size_t>(options.top), .paint = paint});
  return text;
}

void warn_of_unused_keys(const Report& report, Streams streams) {
  for (const UnusedKey& key : report.unused_keys.keys)
    warn(fmt::format("{}{} = {} had no effect on {}", key.from_set ? "--set " : "", key.path, key.text,
                     report.module_name),
         streams);
}

/// "v4,v5e" names two devices, unless it is a file.
std::vector<std::string> device_names(const std::string& text) {
  std::error_code ignored;
  if (text.empty() || std::filesystem::exists(text, ignored)) return {text};
  return split(text, ',');
}

/// What can't be asked for together; says so.
bool is_wrong(const ReportArguments& options, const ReportFormat& format, size_t devices, Streams streams) {
  std::string problem;
  if (!options.advise.empty() && options.format == "csv")
    problem = "--advise is for text, JSON and pages, not for CSV";
  else if (options.before && !format.is_for_people)
    problem = fmt::format("--before and --diff are for text, not for {}", options.format);
  else if (devices > 1 && (options.before || options.format == "csv"))
    problem =
        fmt::format("{} for one device, there are {}", options.before ? "--before is" : "CSV is", devices);
  else if (const std::string& link = options.source_link; !link.empty() && !format.takes_pages)
    problem = fmt::format("--source-link is for pages, not for {}", options.format);
  else if (const std::string wrong = link.empty() ? "" : source_link_problem(link); !wrong.empty())
    problem = fmt::format("--source-link: '{}': {}", shown(link), wrong);
  if (!problem.empty())
    complain(problem, problem.starts_with("--source-link:") ? "as in vscode://file/{file}:{line}" : "",
             streams);
  return !problem.empty();
}

/// Adds the reports of all chosen modules; false when something was wrong.
bool report_on(SimulationSetting& setting, const ReportArguments& options, const ReportFormat& format,
               Streams streams, ReportResults& results) {
  setting.estimate.simulate.keep_timeline = options.timeline || format.takes_pages;
  return for_each_chosen(options, setting, streams, [&](const Module& module) {
    std::optional<Report> one = report_module(module, setting, options, format, streams, results);
    if (one) results.reports.push_back(std::move(*one));
    return one.has_value();
  });
}

/// Null, with what is wrong printed.
std::optional<std::vector<SimulationSetting>> settings_of(ReportArguments options,
                                                          const std::vector<std::string>& devices,
                                                          Streams streams) {
  std::vector<SimulationSetting> settings;
  for (const std::string& device : devices) {
    options.device = device;
    std::optional<SimulationSetting> one = read_simulation(options, streams);
    if (!one) return std::nullopt;
    settings.push_back(std::move(*one));
  }
  return settings;
}

int report(const ReportArguments& given, Streams streams) {
  if (given.list) return list(given, streams);
  ReportArguments options = given;
  const ReportFormat& format = *find_report_format(options.format);
  const std::vector<std::string> devices = device_names(options.device);
  if (is_wrong(options, format, devices.size(), streams)) return kExitInput;
  if (!options.advise.empty()) {
    const Result<double> seconds = budget_seconds(options.advise, "--advise");
    if (!seconds) return tell(seconds.error(), streams), kExitInput;
    options.advise_seconds = *seconds;
  }
  ReportResults results;
  results.source_link = options.source_link;
  if (format.takes_pages) {
    auto files = take_saved_reports(options.files, streams, results.pages);
    if (!files) return kExitInput;
    options.files = std::move(*files);
  }
  // Where all are saved reports nothing has to be simulated.
  std::optional<std::vector<SimulationSetting>> settings =
      options.files.empty() ? std::vector<SimulationSetting>() : settings_of(options, devices, streams);
  if (!settings) return kExitInput;
  std::vector<Report>& reports = results.reports;
  bool ok = true;
  for (SimulationSetting& setting : *settings)
    ok = report_on(setting, options, format, streams, results) && ok;
  if (reports.empty() && (results.pages.empty() || !ok)) return kExitInput;
  if (!format.has_warnings)
    for (const Report& one : reports) warn_of_unused_keys(one, streams);
  std::string text = devices.size() > 1 ? "" : overview(reports, options, format, streams);
  const Paint paint = output_paint(options.output, streams);
  if (text.empty())
    text = format.write(results,
                        {.top = static_cast<size_t>(options.top), .full = options.full, .paint = paint});
  bool compared = true;
  if (options.before) {
    const std::optional<std::string> more = stages(results, settings->front(), options, streams);
    compared = more.has_value();
    text += more.value_or("");
  }
  if (!write_output(options.output, text, streams) || !ok || !compared) return kExitInput;
  const bool oom =
      std::any_of(reports.begin(), reports.end(), [](const Report& r) { return !r.overflows().empty(); });
  return oom && options.fail_on == "oom" ? kExitFailedCheck : kExitSuccess;
}

}  // namespace

std::function<int()> declare_report(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ReportArguments>();
  declare_simulation(line, *options);
  line.option("--device")
      .description(
          "Device file, built-in device or accelerator type: v4.yaml, v5e, v5p-128; several: v4,v5e");
  line.option("FILE").description(
      "HLO or StableHLO files, protos, or folders written by --xla_dump_to; for a page also reports saved by "
      "--format=json; - is standard input");
  std::vector<const char*> formats;
  for (const ReportFormat& format : report_formats()) formats.push_back(format.name);
  const Option format = line.add_option("--format", options->format,
                                        report_format_names() + "; without it, by the suffix of -o")
                            .one_of(formats)
                            .show_default();
  const Option output = line.add_option("-o,--output", options->output, "Output file; - is standard output")
                            .writes_file(streams.files)
                            .show_default();
  line.add_option("--html", options->html, "The same as --format=html -o FILE")
      .writes_file(streams.files)
      .excludes(format)
      .excludes(output);
  line.add_option("--source-link", options->source_link,
                  "Page: template of links to source lines, as in 'vscode://file/{file}:{line}'");
  line.add_option("--top", options->top, "Rows of the longest lists in the text; 0: all")
      .from(0)
      .show_default();
  line.add_flag("--full", options->full, "Print every section of the text, not the first screen alone");
  line.add_flag("--list", options->list, "List the modules and the files that belong to each");
  line.add_flag("--before", options->before,
                "Also simulate the unoptimized modules of a folder, lowered by hlosim, and compare");
  line.add_flag("--diff", options->diff, "Like --before, with what changed in each module");
  line.add_flag("--timeline", options->timeline, "Draw a timeline of all units in text");
  line.add_option(
      "--advise", options->advise,
      "Try changes for that long, as in 10s (0: no limit), and put the largest saving into the head");
  line.add_option("--fail-on", options->fail_on,
                  "Exit with 1 if the module does not fit in the device's memory")
      .one_of({"oom"});
  line.format_by_suffix(options->format, options->output);
  return [options, streams] {
    options->before = options->before || options->diff;
    if (!options->html.empty()) options->format = "html", options->output = options->html;
    return report(*options, streams);
  };
}

}  // namespace hlosim
