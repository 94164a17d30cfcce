#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
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

struct Options {
  std::string file, instruction;
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

/// The first instruction of that name; invalid: there is none.
InstructionId find(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      if (without_percent(module[id].name) == name) return id;
  return {};
}

Diagnostic unknown(const std::vector<Module>& modules, const Options& options) {
  std::vector<std::string_view> names;
  for (const Module& module : modules)
    for (const Instruction& instruction : module.instructions)
      names.push_back(without_percent(instruction.name));
  return failure(fmt::format("{} has no instruction '{}'", options.file, shown(options.instruction)),
                 did_you_mean(without_percent(options.instruction), names))
      .value();
}

Diagnostic lowered_away(const Options& options) {
  return failure(fmt::format("'{}' is no longer an instruction of its own once {} is lowered",
                             shown(options.instruction), options.file),
                 "`hlosim lower` shows what became of it; --no-lower takes the module as it stands")
      .value();
}

int explain_instruction(Prepared prepared, InstructionId id, const SimulationSetting& setting,
                        const Options& options, Streams streams) {
  const Result<Estimate> estimate =
      hlosim::estimate(std::move(prepared), op_table(), setting.device, setting.estimate.simulate);
  if (!estimate) return fail(estimate.error(), streams);
  const Result<Explanation> explanation = explain(*estimate->module, op_table(), setting.device,
                                                  {setting.custom_calls.get()}, id, estimate->simulation);
  if (!explanation) return fail(explanation.error(), streams);
  const std::string text = options.format == "json" ? to_json(*explanation) : to_text(*explanation);
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

int explain_command(const Options& options, Streams streams) {
  const std::optional<SimulationSetting> setting = read_simulation(options.simulation, streams);
  if (!setting) return kExitInput;
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  const std::string_view name = without_percent(options.instruction);
  bool was_there = false;
  for (const Module& module : input.modules) {  // in order: the first that has it
    was_there = was_there || find(module, name).valid();
    Result<Prepared> prepared = prepare(module, op_table(), setting->device, setting->estimate);
    if (!prepared) return fail(prepared.error(), streams);
    const InstructionId id = find(*prepared->module, name);
    if (id.valid()) return explain_instruction(std::move(*prepared), id, *setting, options, streams);
  }
  return fail(was_there ? lowered_away(options) : unknown(input.modules, options), streams);
}

}  // namespace

std::function<int()> declare_explain(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<Options>();
  line.add_option("FILE", options->file, "HLO text file; - is standard input").required();
  line.add_option("INSTRUCTION", options->instruction, "Name of an instruction, with or without %")
      .required();
  SimulationOptions& simulation = options->simulation;
  line.add_option("--device", simulation.device,
                  "Device file, built-in device or accelerator type: v4.yaml, v4, v5p-128");
  declare_device_choices(line, simulation.choices);
  line.add_option("--topology", simulation.topology, "Slice of chips, as in 2x2x1");
  line.add_option("--devices", simulation.devices, "Number of devices of all slices").from(1);
  line.add_option("--slices", simulation.slices, "Slices of that topology, joined by the hosts' network")
      .from(1)
      .show_default();
  declare_mesh(line, simulation.mesh);
  line.add_option("--while-trip-count", simulation.while_trip_count,
                  "Iterations of while loops without a known count theirs")
      .from(0)
      .show_default();
  line.add_flag("--no-lower", simulation.no_lower,
                "Take modules that no TPU compiler has touched as they stand");
  declare_custom_calls(line, simulation);
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output").show_default();
  return [options, streams] { return explain_command(*options, streams); };
}

}  // namespace hlosim
