#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/mesh_options.h"
#include "console/verbosity.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"
#include "report/buffer_report.h"
#include "text/escape.h"
#include "xla_dump/dump_check.h"
#include "xla_dump/dump_of.h"

namespace hlosim {
namespace {

struct BuffersArguments {
  std::vector<std::string> files;
  std::string device;
  DeviceChoices choices;
  std::string format = "text";
  std::string schedule = "auto";
  std::optional<int64_t> alignment;
  std::vector<std::string> capacities;
  std::optional<int64_t> at;
  int64_t top = 15;
  std::string check;
  std::string output = "-";
  MeshOptions mesh;
};

struct Setting {
  std::optional<Device> device;
  BufferOptions buffers;
  BufferReportOptions report;
  std::optional<BufferDump> dump;  // --check
  std::optional<MeshRequest> mesh;
  bool no_partition = false;
};

ScheduleSource schedule_source(const std::string& word) {
  if (word == "text") return ScheduleSource::kText;
  if (word == "list") return ScheduleSource::kList;
  if (word == "dfs") return ScheduleSource::kDepth;
  if (word == "post") return ScheduleSource::kPostOrder;
  return ScheduleSource::kAuto;
}

/// Where only the current dialect's rules are asked for, its alignment is that of the tests of XLA itself;
/// the dumps of 2022 come from a GPU, which had 128.
int64_t default_alignment(Era era) { return era == Era::k2022 ? 128 : 64; }

std::optional<BufferDump> read_dump_file(const std::string& path, Streams streams) {
  const Result<SourcePtr> source = read_input(path, streams);
  if (!source) {
    tell(source.error(), streams);
    return std::nullopt;
  }
  Result<BufferDump> dump = read_dump(*source);
  if (!dump) {
    tell(dump.error(), streams);
    return std::nullopt;
  }
  return std::move(*dump);
}

bool read_setting(const BuffersArguments& options, Streams streams, Setting& setting) {
  Result<std::optional<MeshRequest>> mesh = mesh_request(options.mesh, streams.limits);
  if (mesh && *mesh && options.device.empty())
    mesh = failure("--mesh needs --device", "the devices that the mesh is made of");
  if (!mesh) {
    tell(mesh.error(), streams);
    return false;
  }
  setting.mesh = std::move(*mesh);
  setting.no_partition = options.mesh.no_partition;
  if (!options.device.empty()) {
    setting.device = read_device(options.device, options.choices, streams);
    if (!setting.device) return false;
    setting.report.device = &setting.device->config;
    setting.report.capacities = capacities_of(setting.device->config);
  }
  for (const std::string& text : options.capacities) {
    const auto capacity = parse_capacity(text);
    if (!capacity) {
      tell(capacity.error(), streams);
      return false;
    }
    setting.report.capacities[capacity->first] = capacity->second;
  }
  if (!options.check.empty()) {
    setting.dump = read_dump_file(options.check, streams);
    if (!setting.dump) return false;
  }
  BufferOptions& buffers = setting.buffers;
  buffers.era = options.format == "xla-2022" || (setting.dump && setting.dump->era == Era::k2022)
                    ? Era::k2022
                    : Era::k2026;
  buffers.alignment = options.alignment.value_or(default_alignment(buffers.era));
  buffers.padded = setting.device.has_value();
  buffers.schedule = schedule_source(options.schedule);
  setting.report.alignment = buffers.alignment;
  setting.report.top = static_cast<size_t>(options.top);
  return true;
}

int report_on_dump(const BuffersArguments& options, const Setting& setting, const std::string& file,
                   Streams streams, std::string& out) {
  const std::optional<BufferDump> dump = read_dump_file(file, streams);
  if (!dump) return kExitInput;
  const bool is_2022 = dump->era == Era::k2022;
  const auto refuse = [&](const std::string& why) {
    complain(fmt::format("{} is a dump{}; {}", file, is_2022 ? " in the dialect of 2022" : "", why), "",
             streams);
    return kExitInput;
  };
  if (setting.dump) return refuse("--check needs the module");
  if (options.at && options.format != "text") return refuse("--at is for --format=text");
  if (options.at && *options.at >= static_cast<int64_t>(dump->live_range.sequence.size()))
    return refuse(dump->live_range.sequence.empty()
                      ? fmt::format("--at={}: it has no live ranges", *options.at)
                      : fmt::format("--at={}: it has steps 0 to {}", *options.at, dump->live_range.end - 1));
  if (options.format == "text")
    out += dump_summary(*dump, {options.at, setting.report.top});
  else if (options.format == "usage")
    out += usage_report(*dump);
  else if (options.format == "xla" || (options.format == "xla-2022" && is_2022))
    out += to_text(*dump);
  else
    return refuse(fmt::format("--format={} needs the module", options.format));
  const std::vector<std::string> overflows = dump_overflows(*dump, setting.report.capacities);
  for (const std::string& overflow : overflows)
    if (options.format == "text")
      out += fmt::format("Ran out of memory in memory space {}\n", overflow);
    else
      streams.err << "hlosim: " << one_line(overflow) << "\n";
  return overflows.empty() ? kExitSuccess : kExitFailedCheck;
}

/// Where the lines of a text begin, for many places in it.
class LineTable {
 public:
  explicit LineTable(const SourceFile& source) {
    const std::string_view text = source.text();
    for (size_t at = 0; at < text.size(); ++at)
      if (text[at] == '\n') starts_.push_back(at + 1);
  }
  LineColumn locate(size_t offset) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return {next - starts_.begin(), static_cast<int64_t>(offset - *(next - 1)) + 1};
  }

 private:
  std::vector<size_t> starts_ = {0};
};

int check(const Setting& setting, const BufferAnalysis& analysis, std::string& out) {
  const std::vector<Diagnostic> found =
      differences(*setting.dump, dump_of(analysis, op_table(), setting.buffers.era));
  const LineTable lines(*setting.dump->source);
  for (const Diagnostic& difference : found) {
    const LineColumn at = lines.locate(difference.offset);
    out += fmt::format("{}:{}:{}: {}\n", difference.source->name(), at.line, at.column, difference.message);
  }
  out += found.empty() ? "The dump agrees with the module.\n"
                       : fmt::format("{} difference{}\n", found.size(), found.size() == 1 ? "" : "s");
  return found.empty() ? kExitSuccess : kExitFailedCheck;
}

/// As it was read, or spread over the mesh or the devices of its shardings. What a dump is checked against is
/// the program that the dump is of.
Result<Module> spread(const Module& given, const Setting& setting, Streams streams) {
  if (setting.mesh && setting.mesh->windowed == WindowedProducts::kAuto)
    return failure("--windowed-products=auto takes the faster program, and nothing is simulated here",
                   "always or never");
  if (setting.dump && !setting.mesh) return given.copy();
  return partitioned_module(given, setting.device ? &*setting.device : nullptr, {}, setting.mesh,
                            setting.no_partition, streams);
}

int report_on_module(const BuffersArguments& options, Setting& setting, const Module& given, Streams streams,
                     std::string& out) {
  Result<Module> spread = hlosim::spread(given, setting, streams);
  if (!spread) {
    tell(spread.error(), streams);
    return kExitInput;
  }
  const Module module = setting.device ? lay_out(*spread, *setting.device).module : std::move(*spread);
  const auto analysis = analyse_buffers(module, op_table(), setting.buffers);
  if (!analysis) {
    tell(analysis.error(), streams);
    return kExitInput;
  }
  if (setting.dump) return check(setting, **analysis, out);
  if (options.at && *options.at >= (*analysis)->schedule.end()) {
    complain(fmt::format("--at={}: module {} has steps 0 to {}", *options.at, module.name,
                         (*analysis)->schedule.end() - 1),
             "", streams);
    return kExitInput;
  }
  if (options.at) setting.report.at = static_cast<int32_t>(*options.at);
  const BufferReport report = buffer_report(**analysis, setting.report);
  if (options.format == "csv")
    out += to_csv(**analysis);
  else if (options.format == "json")
    out += to_json(report);
  else if (options.format == "text")
    out += to_text(report);
  else if (options.format == "usage")
    out += usage_report(dump_of(**analysis, op_table(), setting.buffers.era));
  else
    out += to_text(dump_of(**analysis, op_table(), setting.buffers.era));
  if (options.format != "text" && options.format != "json")
    for (const std::string& overflow : report.overflows)
      streams.err << "hlosim: " << one_line(overflow) << "\n";
  return report.overflows.empty() ? kExitSuccess : kExitFailedCheck;
}

int buffers(const BuffersArguments& options, Streams streams) {
  Setting setting;
  if (!read_setting(options, streams, setting)) return kExitInput;
  int worst = kExitSuccess;
  std::string out;
  std::vector<std::string> documents;
  for (const std::string& file : options.files) {
    const Result<SourcePtr> source = read_input(file, streams);
    if (source && looks_like_dump((*source)->text())) {
      worst = std::max(worst, report_on_dump(options, setting, file, streams, out));
      continue;
    }
    ModuleInput input = read_module_input(file, false, streams);
    if (!input.ok) worst = kExitInput;
    if (!input.ok) input.modules.clear();
    for (const Module& module : input.modules) {
      if (options.format == "text" && !out.empty()) out += "\n";
      worst = std::max(worst, report_on_module(options, setting, module, streams, out));
      if (options.format == "json") documents.push_back(std::move(out)), out.clear();
    }
  }
  if (options.format == "json" && !documents.empty()) out = json_documents(documents);
  if (!out.empty() && !write_output(options.output, out, streams)) return kExitInput;
  return worst;
}

}  // namespace

std::function<int()> declare_buffers(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<BuffersArguments>();
  line.add_option("FILE", options->files, "HLO text or a buffer assignment dump; - is standard input")
      .required();
  line.add_option("-d,--device", options->device, "Device: capacities, tiled layouts, padded sizes");
  declare_device_choices(line, options->choices);
  declare_mesh(line, options->mesh);
  line.add_option("--format", options->format, "text, json, csv, usage, xla or xla-2022")
      .one_of({"text", "json", "csv", "usage", "xla", "xla-2022"})
      .show_default();
  line.add_option("--schedule", options->schedule,
                  "Order of execution: the module's (auto), text, list, dfs or post")
      .one_of({"auto", "text", "list", "dfs", "post"})
      .show_default();
  line.add_option("--alignment", options->alignment, "Alignment of offsets in bytes (64; 128 for xla-2022)")
      .between(1, kMostAlignment);
  line.add_option("--capacity", options->capacities, "Assume another capacity: S1=64MiB");
  line.add_option("--at", options->at, "List the buffers that are live at this step").from(0);
  line.add_option("--top", options->top, "Largest buffers to show").from(0).show_default();
  line.add_option("--check", options->check, "Compare with this dump");
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return buffers(*options, streams); };
}

}  // namespace hlosim
