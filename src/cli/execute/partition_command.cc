#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "base/quantity_text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/execute/sharded_module.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "partition_check/partition_check.h"

namespace hlosim {
namespace {

struct Options {
  std::string file;
  std::string output;
  bool check = false, report = false, propagate_only = false;
  ShardingRequest sharding;
  PartitionOptions partition;
  PartitionCheckOptions checking;
};

std::string place_of(const Module& module, uint32_t offset) {
  if (!module.source || offset == 0) return {};
  const LineColumn at = module.source->locate(offset);
  return fmt::format("{}:{}:{}: ", module.source->name(), at.line, at.column);
}

/// What was added, and what every device does as a whole.
void show(const Module& module, const Partitioned& made, Streams streams) {
  int64_t bytes = 0;
  for (const Resharding& one : made.reshardings) {
    bytes += one.bytes;
    streams.out << fmt::format("{}{}: {} of {} from {} to {}, sends {}{}\n", place_of(module, one.offset),
                               one.asked_by, to_text(one.kind), one.what, one.from, one.to,
                               to_text(Bytes(one.bytes)), one.in_loop ? " each turn" : "");
  }
  for (const ReplicatedInstruction& one : made.replicated)
    streams.out << fmt::format("{}{}: every device does all of it, gathering {}: {}\n",
                               place_of(module, one.offset), one.name, to_text(Bytes(one.bytes)), one.reason);
  streams.out << fmt::format("{} devices, {} collective{}, each device sends {}\n", made.devices,
                             made.reshardings.size(), made.reshardings.size() == 1 ? "" : "s",
                             to_text(Bytes(bytes)));
}

int check(const Options& options, const Propagated& whole, Streams streams) {
  PartitionOptions partition = options.partition;
  partition.devices = whole.devices;
  const auto checked = check_partition(whole.module, op_table(), partition, options.checking);
  if (!checked) {
    tell(checked.error(), streams);
    return kExitInput;
  }
  for (size_t i = 0; i < checked->outputs.size(); ++i) {
    const CheckedOutput& output = checked->outputs[i];
    const Comparison& found = output.comparison;
    streams.out << fmt::format("output {}  {}  ", i, output.shape);
    if (found.different == 0)
      streams.out << "same on all devices\n";
    else
      streams.out << fmt::format(
          "{}: device {}, {} of {} elements differ, largest error {:.3g}, {} outside\n",
          found.within() ? "agrees" : "DIFFERS", output.device, found.different, found.count, found.max_abs,
          found.outside);
  }
  for (const std::string& text : checked->notes) note(text, streams);
  return checked->agrees() ? kExitSuccess : kExitFailedCheck;
}

int partition_file(const Options& options, Streams streams) {
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  std::string text;
  int worst = kExitSuccess;
  for (const Module& module : input.modules) {
    const std::optional<Propagated> whole = propagated_module(module, options.sharding, streams);
    if (!whole) return kExitInput;
    if (!text.empty()) text += "\n// -----\n\n";
    if (options.propagate_only) {
      text += text_with_decisions(*whole);
      continue;
    }
    PartitionOptions how = options.partition;
    how.devices = whole->devices;
    const Result<Partitioned> made = partition(whole->module, op_table(), how);
    if (!made) {
      tell(made.error(), streams);
      return kExitInput;
    }
    if (options.report) show(module, *made, streams);
    if (options.check) worst = std::max(worst, check(options, *whole, streams));
    text += to_text(made->module, op_table());
  }
  const bool writes = !options.output.empty() || (!options.check && !options.report);
  if (writes && !write_output(options.output.empty() ? "-" : options.output, text, streams))
    return kExitInput;
  return worst;
}

}  // namespace

std::function<int()> declare_partition(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<Options>();
  line.add_option("FILE", options->file, "HLO text file with shardings; - is standard input").required();
  declare_sharding(line, options->sharding);
  line.add_flag("--propagate-only", options->propagate_only,
                "Print the module with the shardings of all instructions and who decided each");
  line.add_option(
      "-o,--output", options->output,
      "File for what each device runs; - is standard output, which is where it goes without --report "
      "and --check");
  line.add_flag("--report", options->report,
                "List the collectives that were added: who asked, both shardings, bytes");
  line.add_flag("--check", options->check,
                "Run both on random global inputs, NaN in all padding, and compare");
  line.add_option("--seed", options->checking.seed, "Of the inputs of --check").from(0).show_default();
  return [options, streams] { return partition_file(*options, streams); };
}

}  // namespace hlosim
