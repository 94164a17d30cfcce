#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/quantity_text.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/execute/sharded_module.h"
#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "estimate/fitted_partition.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "partition/partition_report.h"
#include "partition_check/check_report.h"
#include "partition_check/partition_check.h"
#include "text/escape.h"

namespace hlosim {
namespace {

struct PartitionArguments {
  std::string file;
  std::string output, device;
  std::string format = "text";
  bool check = false, report = false, propagate_only = false;
  std::string hoist, combine, windowed = "never";
  ShardingRequest sharding;
  PartitionOptions partition;
  PartitionCheckOptions checking;
};

/// "64MiB"; digits alone are bytes. False: it is no amount, and that was said.
bool read_bytes(const char* option, const std::string& text, std::vector<int64_t*> into, Streams streams) {
  if (text.empty()) return true;
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const Result<Bytes> bytes = TextForm<Bytes>::read(text + (digits ? "B" : ""));
  if (!bytes) {
    complain(fmt::format("{}: {}", option, bytes.error().message), bytes.error().hint, streams);
    return false;
  }
  if (bytes->count() < 0) {
    complain(fmt::format("{}: {} is negative", option, shown(text)), "0: never", streams);
    return false;
  }
  for (int64_t* const one : into) *one = bytes->count();
  return true;
}

bool read_sizes(PartitionArguments& options, Streams streams) {
  PartitionOptions& into = options.partition;
  using When = WindowedEinsum::When;
  into.windowed.when = options.windowed == "always"      ? When::kAlways
                       : options.windowed == "threshold" ? When::kThreshold
                                                         : When::kNever;
  return read_bytes("--hoist-gathers", options.hoist, {&into.hoist_bytes}, streams) &&
         read_bytes("--combine-collectives", options.combine,
                    {&into.combine_reductions_bytes, &into.combine_moves_bytes}, streams);
}

/// Notes of what the device decided are printed.
Result<Partitioned> partitioned(const Module& whole, const PartitionOptions& how,
                                const std::optional<Device>& device, Streams streams) {
  if (!device) return partition(whole, op_table(), how);
  AssumptionList assumptions;
  Result<Partitioned> made = partition_to_fit(whole, op_table(), how, &*device, assumptions);
  for (const Assumption& one : assumptions.items()) note(one.text, streams);
  return made;
}

/// Prints the outcome, or adds it to the row of JSON output.
int check(const PartitionArguments& options, const PartitionOptions& how, const Module& whole, Json& row,
          Streams streams) {
  const auto checked = check_partition(whole, op_table(), how, options.checking);
  if (!checked) {
    tell(checked.error(), streams);
    return kExitInput;
  }
  if (options.format == "json")
    row["check"] = check_json(*checked);
  else
    streams.out << check_text(*checked);
  for (const std::string& one : checked->notes) note(one, streams);
  return checked->agrees() ? kExitSuccess : kExitFailedCheck;
}

int partition_file(PartitionArguments& options, Streams streams) {
  if (!read_sizes(options, streams)) return kExitInput;
  std::optional<Device> device;
  if (!options.device.empty()) {
    device = read_device(options.device, {}, streams);
    if (!device) return kExitInput;
  }
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  const bool as_json = options.format == "json";
  const bool embeds = as_json && (options.output.empty() || options.output == "-");
  const bool writes = as_json || !options.output.empty() || (!options.check && !options.report);
  std::string text;
  Json rows = Json::array();
  int worst = kExitSuccess;
  for (const Module& module : input.modules) {
    ShardingRequest sharding = options.sharding;
    sharding.some_devices = options.propagate_only;
    const std::optional<Propagated> whole = propagated_module(module, sharding, streams);
    if (!whole) return kExitInput;
    if (!text.empty()) text += "\n// -----\n\n";
    if (options.propagate_only) {
      text += text_with_decisions(*whole);
      continue;
    }
    PartitionOptions how = options.partition;
    how.devices = whole->devices;
    const Result<Partitioned> made = partitioned(whole->module, how, device, streams);
    if (!made) {
      tell(made.error(), streams);
      return kExitInput;
    }
    Json row = partition_json(module, *made);
    if (options.report && !as_json) streams.out << partition_text(module, *made);
    if (options.check) worst = std::max(worst, check(options, how, whole->module, row, streams));
    if (!writes) continue;
    const std::string one = to_text(made->module, op_table());
    if (const auto right = verify_emitted_text(one, "partition", module.name); !right) {
      tell(right.error(), streams);
      return kExitInput;
    }
    text += one;
    if (embeds) row["text"] = one;
    rows.push_back(std::move(row));
  }
  if (as_json) streams.out << rows.dump(1) << "\n";
  if (writes && !embeds && !write_output(options.output.empty() ? "-" : options.output, text, streams))
    return kExitInput;
  return worst;
}

}  // namespace

std::function<int()> declare_partition(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<PartitionArguments>();
  line.add_option("FILE", options->file, "HLO text file with shardings; - is standard input").required();
  declare_sharding(line, options->sharding);
  const Option propagate_only =
      line.add_flag("--propagate-only", options->propagate_only,
                    "Print the module with the sharding of every instruction and its origin");
  line.add_option(
          "-o,--output", options->output,
          "File for the program of each device; - is standard output, the default without --report and "
          "--check")
      .writes_file(streams.files);
  line.add_flag("--report", options->report,
                "List the added collectives: requesting instruction, both shardings, bytes");
  line.add_flag("--check", options->check,
                "Run both programs on random global inputs, with NaN in all padding, and compare");
  line.add_option("--format", options->format,
                  "text, or json: --report of each module, with the outcome of --check, and without --output "
                  "the partitioned text")
      .one_of({"text", "json"})
      .show_default()
      .excludes(propagate_only);
  const Option hoist = line.add_option(
      "--hoist-gathers", options->hoist,
      "Memory of a device that all-gathers of loop-invariant values, hoisted out of loops, may "
      "take: 4GiB; 0: none; default: 1GiB");
  line.add_option(
          "-d,--device", options->device,
          "Hoist all-gathers of loop-invariant values while this device's memory has room, as for reports")
      .excludes(hoist);
  line.add_option(
      "--combine-collectives", options->combine,
      "Combine independent collectives of the same devices up to this size; 0: never; default: 30MiB "
      "for all-reduces, 1MiB for others");
  line.add_option(
          "--windowed-products", options->windowed,
          "Collective matmul: all-gather + dot and dot + reduce-scatter as rings of permutes; threshold: "
          "from 256 MiB")
      .one_of({"never", "always", "threshold"})
      .show_default();
  line.add_option("--seed", options->checking.seed, "Seed of the inputs of --check").from(0).show_default();
  return [options, streams] { return partition_file(*options, streams); };
}

}  // namespace hlosim
