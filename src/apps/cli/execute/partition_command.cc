#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

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
#include "partition_check/partition_check.h"
#include "text/escape.h"

namespace hlosim {
namespace {

struct PartitionArguments {
  std::string file;
  std::string output, device;
  bool check = false, report = false, propagate_only = false;
  std::string hoist, combine, windowed = "never";
  ShardingRequest sharding;
  PartitionOptions partition;
  PartitionCheckOptions checking;
};

std::string place_of(const Module& module, uint32_t offset) {
  if (!module.source || offset == 0) return {};
  const LineColumn at = module.source->locate(offset);
  return fmt::format("{}:{}:{}: ", module.source->name(), at.line, at.column);
}

/// What else there is to say of a collective that was added.
std::string circumstances(const Resharding& one) {
  std::string text = one.in_loop ? " each turn" : "";
  if (one.windowed) text += ", beside a part of the product";
  if (one.hoisted && one.held > 0)
    text += fmt::format(", once before the loop, which holds {}", to_text(Bytes(one.held)));
  else if (one.hoisted)
    text += ", once before the loop";
  else if (one.held > 0)
    text +=
        fmt::format(", although it is the same each time: {} to hold are too much", to_text(Bytes(one.held)));
  if (one.together > 1)
    text += fmt::format(", together with {} other{}", one.together - 1, one.together > 2 ? "s" : "");
  return text;
}

/// What was added, and what every device does as a whole.
void show(const Module& module, const Partitioned& made, Streams streams) {
  int64_t bytes = 0;
  std::set<InstructionId> collectives;
  for (const Resharding& one : made.reshardings) {
    bytes += one.bytes;
    collectives.insert(one.collective);
    streams.out << one_line(fmt::format("{}{}: {} of {} from {} to {}, sends {}{}",
                                        place_of(module, one.offset), one.asked_by, to_text(one.kind),
                                        one.what, one.from, one.to, to_text(Bytes(one.bytes)),
                                        circumstances(one)))
                << "\n";
  }
  for (const ReplicatedInstruction& one : made.replicated)
    streams.out << one_line(fmt::format("{}{}: every device does all of it, gathering {}: {}",
                                        place_of(module, one.offset), one.name, to_text(Bytes(one.bytes)),
                                        one.reason))
                << "\n";
  streams.out << fmt::format("{} devices, {} collective{}, each device sends {}\n", made.devices,
                             collectives.size(), collectives.size() == 1 ? "" : "s", to_text(Bytes(bytes)));
}

int check(const PartitionArguments& options, const Propagated& whole, Streams streams) {
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
  into.windowed_products = options.windowed == "always";
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

int partition_file(PartitionArguments& options, Streams streams) {
  if (!read_sizes(options, streams)) return kExitInput;
  std::optional<Device> device;
  if (!options.device.empty()) {
    device = read_device(options.device, {}, streams);
    if (!device) return kExitInput;
  }
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  const bool writes = !options.output.empty() || (!options.check && !options.report);
  std::string text;
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
    if (options.report) show(module, *made, streams);
    if (options.check) worst = std::max(worst, check(options, *whole, streams));
    if (!writes) continue;
    const std::string one = to_text(made->module, op_table());
    if (const auto right = verify_emitted_text(one, "partition", module.name); !right) {
      tell(right.error(), streams);
      return kExitInput;
    }
    text += one;
  }
  if (writes && !write_output(options.output.empty() ? "-" : options.output, text, streams))
    return kExitInput;
  return worst;
}

}  // namespace

std::function<int()> declare_partition(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<PartitionArguments>();
  line.add_option("FILE", options->file, "HLO text file with shardings; - is standard input").required();
  declare_sharding(line, options->sharding);
  line.add_flag("--propagate-only", options->propagate_only,
                "Print the module with the sharding of every instruction and its origin");
  line.add_option(
          "-o,--output", options->output,
          "File for what each device runs; - is standard output, which is where it goes without --report "
          "and --check")
      .writes_file(streams.files);
  line.add_flag("--report", options->report,
                "List the added collectives: requesting instruction, both shardings, bytes");
  line.add_flag("--check", options->check,
                "Execute both programs on random global inputs, with NaN in all padding, and compare");
  const Option hoist =
      line.add_option("--hoist-gathers", options->hoist,
                      "What a loop hands on unchanged is gathered before it while that takes no more of a "
                      "device's memory: 4GiB; 0: never; without it 1GiB");
  line.add_option("--device", options->device,
                  "What a loop hands on unchanged is gathered before it while this device's memory has room, "
                  "as for reports")
      .excludes(hoist);
  line.add_option("--combine-collectives", options->combine,
                  "Independent ones between the same devices are one up to so many bytes; 0: never; "
                  "without it 30MiB of all-reduces, 1MiB of others");
  line.add_option("--windowed-products", options->windowed,
                  "Collective matmul: decompose all-gather + dot and dot + reduce-scatter into ring permutes")
      .one_of({"never", "always"})
      .show_default();
  line.add_option("--seed", options->checking.seed, "Seed of the inputs of --check").from(0).show_default();
  return [options, streams] { return partition_file(*options, streams); };
}

}  // namespace hlosim
