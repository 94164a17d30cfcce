#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "estimate/unpartitioned.h"
#include "ops/op_table.h"
#include "report/cost_report.h"

namespace hlosim {
namespace {

struct CostArguments {
  std::vector<std::string> files;
  std::string format = "text";
  std::string output = "-";
};

/// Counters are those of XLA's analysis of the same text.
void note_unpartitioned(const Module& module, Streams streams) {
  const int64_t devices = unpartitioned_devices(module, op_table());
  if (devices > 0)
    note(fmt::format("{} is sharded over {} devices and not partitioned: the counts are those of the whole "
                     "program, `hlosim partition` writes that of one device",
                     module.name, devices),
         streams);
}

int cost(const CostArguments& options, Streams streams) {
  std::vector<CostReport> reports;
  bool ok = true;
  for (const std::string& file : options.files) {
    ModuleInput input = read_module_input(file, false, streams);
    ok &= input.ok;
    if (!input.ok) continue;
    for (Module& module : input.modules) {
      note_unpartitioned(module, streams);
      reports.push_back(cost_report(module, op_table()));
    }
  }
  if (reports.empty()) return ok ? kExitSuccess : kExitInput;
  std::string text;
  if (options.format == "json") {
    text = to_json(reports);
  } else {
    for (const CostReport& report : reports) text += (text.empty() ? "" : "\n") + to_text(report);
  }
  if (!write_output(options.output, text, streams)) return kExitInput;
  return ok ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_cost(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<CostArguments>();
  line.add_option("FILE", options->files, "HLO text files; - is standard input").required();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return cost(*options, streams); };
}

}  // namespace hlosim
