#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>

#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/simulation_setting.h"
#include "console/verbosity.h"
#include "estimate/estimate.h"
#include "ops/op_table.h"
#include "report/explain.h"

namespace hlosim {
namespace {

struct ExplainArguments {
  std::string file, instruction, computation;
  SimulationOptions simulation;
  std::string format = "text";
  std::string output = "-";
};

int fail(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return kExitInput;
}

std::string_view without_percent(std::string_view name) {
  return name.starts_with('%') ? name.substr(1) : name;
}

/// Names of the computations that have an instruction of that name.
std::vector<std::string> computations_with(const Module& module, const ExplainArguments& options) {
  std::vector<std::string> found;
  const std::string_view name = without_percent(options.instruction),
                         where = without_percent(options.computation);
  for (const Computation& computation : module.computations) {
    if (!where.empty() && without_percent(computation.name) != where) continue;
    for (const InstructionId id : computation.instructions)
      if (without_percent(module[id].name) == name) found.emplace_back(without_percent(computation.name));
  }
  return found;
}

/// Of several instructions of one name the one that runs is explained: which others there are.
void tell_others(const Module& module, const Explanation& explanation, const ExplainArguments& options,
                 Streams streams) {
  std::vector<std::string> others = computations_with(module, options);
  std::erase(others, std::string(without_percent(explanation.computation)));
  if (others.empty()) return;
  constexpr size_t kShown = 4;
  const size_t count = std::min(others.size(), kShown);
  note(fmt::format(
           "'{}' of {} is explained; there are others of that name in {}{}: --computation=NAME chooses",
           shown(options.instruction), explanation.computation,
           fmt::join(others.begin(), others.begin() + static_cast<int>(count), ", "),
           others.size() > count ? fmt::format(" and {} more", others.size() - count) : ""),
       streams);
}

Diagnostic unknown(const std::vector<Module>& modules, const ExplainArguments& options) {
  std::vector<std::string_view> names;
  for (const Module& module : modules)
    for (const Instruction& instruction : module.instructions)
      names.push_back(without_percent(instruction.name));
  const std::string where =
      options.computation.empty() ? "" : fmt::format(" in computation '{}'", shown(options.computation));
  const std::string hint = did_you_mean(without_percent(options.instruction), names);
  return failure(fmt::format("{} has no instruction '{}'{}", options.file, shown(options.instruction), where),
                 hint.empty() ? fmt::format("`hlosim explain {} --device={}` lists the five longest",
                                            options.file, options.simulation.device)
                              : hint)
      .value();
}

Diagnostic lowered_away(const ExplainArguments& options) {
  return failure(fmt::format("'{}' is no longer an instruction of its own once {} is lowered",
                             shown(options.instruction), options.file),
                 "`hlosim lower` shows what became of it; --no-lower simulates the module unchanged")
      .value();
}

int explain_instruction(Prepared prepared, const SimulationSetting& setting, const ExplainArguments& options,
                        Streams streams) {
  const Result<Estimate> estimate =
      hlosim::estimate(std::move(prepared), op_table(), setting.device, setting.estimate.simulate);
  if (!estimate) return fail(estimate.error(), streams);
  const InstructionId id =
      find_instruction(*estimate->module, *estimate->simulation, options.instruction, options.computation);
  const Result<Explanation> explanation = explain(*estimate->module, op_table(), setting.device,
                                                  {setting.custom_calls.get()}, id, *estimate->simulation);
  if (!explanation) return fail(explanation.error(), streams);
  tell_others(*estimate->module, *explanation, options, streams);
  const std::string text = options.format == "json" ? to_json(*explanation) : to_text(*explanation);
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

/// An instruction and its share of the run, as a list of the longest shows them.
struct LongInstruction {
  std::string name;
  Picoseconds time{};
  double share = 0;
};

constexpr size_t kMostListed = 5;

/// The instructions with most time of their own, the longest first.
Result<std::vector<LongInstruction>> longest_instructions(const Module& module,
                                                          const SimulationSetting& setting) {
  Result<Prepared> prepared = prepare(module, op_table(), setting.device, setting.estimate);
  if (!prepared) return tl::unexpected(prepared.error());
  const Result<Estimate> estimate =
      hlosim::estimate(std::move(*prepared), op_table(), setting.device, setting.estimate.simulate);
  if (!estimate) return tl::unexpected(estimate.error());
  std::vector<const InstructionRecord*> records;
  for (const InstructionRecord& record : estimate->simulation->instructions)
    if (record.self_time.count() > 0) records.push_back(&record);
  const size_t count = std::min(kMostListed, records.size());
  std::ranges::partial_sort(records, records.begin() + static_cast<std::ptrdiff_t>(count),
                            std::ranges::greater(),
                            [](const InstructionRecord* record) { return record->self_time; });
  std::vector<LongInstruction> longest;
  const double total = static_cast<double>(estimate->simulation->totals.makespan.count());
  for (const InstructionRecord* record : std::span(records).first(count))
    longest.push_back({std::string(without_percent((*estimate->module)[record->id].name)), record->self_time,
                       total > 0 ? static_cast<double>(record->self_time.count()) / total : 0});
  return longest;
}

/// What there is to explain, for a line without an instruction's name.
int list_longest(const std::vector<Module>& modules, const SimulationSetting& setting,
                 const ExplainArguments& options, Streams streams) {
  std::string text;
  for (const Module& module : modules) {
    warn_of_unpartitioned(module, options.simulation.mesh.no_partition, streams);
    const Result<std::vector<LongInstruction>> longest = longest_instructions(module, setting);
    if (!longest) return fail(longest.error(), streams);
    text += fmt::format("{}longest instructions of {}, to be explained by name:\n", text.empty() ? "" : "\n",
                        module.name);
    size_t width = 0;
    for (const LongInstruction& one : *longest) width = std::max(width, one.name.size());
    for (const LongInstruction& one : *longest)
      text +=
          fmt::format("  {:<{}}  {:>9}  {:>5.1f} %\n", one.name, width, to_text(one.time), 100 * one.share);
    if (!longest->empty())
      text += fmt::format("hlosim explain {} {} --device={}\n", options.file, longest->front().name,
                          options.simulation.device);
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

int explain_command(const ExplainArguments& options, Streams streams) {
  if (options.instruction.empty() && options.format == "json") {
    complain("--format=json: INSTRUCTION is required", "without --format the five longest are listed",
             streams);
    return kExitInput;
  }
  const std::optional<SimulationSetting> setting = read_simulation(options.simulation, streams);
  if (!setting) return kExitInput;
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  if (setting->custom_calls) {
    UnusedCustomCallCosts unused(*setting->custom_calls);
    for (const Module& module : input.modules) unused.add(module);
    for (const Diagnostic& warning : unused.warnings()) tell(warning, streams);
  }
  if (options.instruction.empty()) return list_longest(input.modules, *setting, options, streams);
  bool was_there = false;
  for (const Module& module : input.modules) {  // in order: the first that has it
    was_there = was_there || !computations_with(module, options).empty();
    warn_of_unpartitioned(module, options.simulation.mesh.no_partition, streams);
    Result<Prepared> prepared = prepare(module, op_table(), setting->device, setting->estimate);
    if (!prepared) return fail(prepared.error(), streams);
    if (!computations_with(*prepared->module, options).empty())
      return explain_instruction(std::move(*prepared), *setting, options, streams);
  }
  return fail(was_there ? lowered_away(options) : unknown(input.modules, options), streams);
}

}  // namespace

std::function<int()> declare_explain(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ExplainArguments>();
  line.add_option("FILE", options->file, "HLO text file; - is standard input").required();
  line.add_option("INSTRUCTION", options->instruction,
                  "Name of an instruction, with or without %; without one the five longest are listed");
  line.add_option("--computation", options->computation,
                  "Computation of the instruction; default: the one that executes it by itself");
  SimulationOptions& simulation = options->simulation;
  line.add_option("-d,--device", simulation.device,
                  "Device file, built-in device or accelerator type: v4.yaml, v4, v5p-128");
  declare_device_choices(line, simulation.choices);
  line.add_option("--topology", simulation.topology, "Slice topology, e.g. 2x2x1");
  line.add_option("--devices", simulation.devices, "Number of devices in all slices").from(1);
  line.add_option("--slices", simulation.slices, "Number of slices, connected by the hosts' network")
      .from(1)
      .show_default();
  declare_mesh(line, simulation.mesh);
  line.add_option("--while-trip-count", simulation.while_trip_count,
                  "Trip count to assume for while loops whose trip count is unknown")
      .from(0)
      .show_default();
  line.add_flag("--no-lower", simulation.no_lower,
                "Simulate unoptimized modules as they are, without hlosim's lowering passes");
  declare_custom_calls(line, simulation);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return explain_command(*options, streams); };
}

}  // namespace hlosim
