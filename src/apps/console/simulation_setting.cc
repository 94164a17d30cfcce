#include "console/simulation_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <ostream>

#include "base/text.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/module_files.h"
#include "console/verbosity.h"
#include "estimate/named_slice.h"

namespace hlosim {

Result<ModuleChoice> ModuleChoice::parse(const std::string& text) {
  ModuleChoice choice;
  if (text.empty()) return choice;
  size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error == std::errc() && end == text.data() + text.size()) {
    choice.index_ = index;
    return choice;
  }
  Result<Pattern> pattern = Pattern::parse(text);
  if (!pattern) return failure("--module: " + pattern.error().message);
  choice.pattern_ = std::move(*pattern);
  return choice;
}

bool ModuleChoice::takes(std::string_view name, size_t index) const {
  if (index_) return *index_ == index;
  return pattern_.finds(name);
}

void declare_simulation(CommandLine& line, SimulationOptions& options) {
  line.add_option("FILE", options.files,
                  "HLO or StableHLO files, protos, or folders written by --xla_dump_to; - is standard input")
      .required();
  line.add_option("-d,--device", options.device,
                  "Device file, built-in device or accelerator type: v4.yaml, v5e, v5p-128, trillium")
      .group("Device");
  declare_device_choices(line, options.choices);
  line.add_option("--topology", options.topology,
                  "Slice topology, e.g. 2x2x1. Suffixes _mesh, _torus and _twisted override the generation's "
                  "wrap-around")
      .group("Device");
  line.add_option("--devices", options.devices, "Number of devices in all slices").from(1).group("Device");
  line.add_option("--slices", options.slices, "Number of slices, connected by the hosts' network")
      .from(1)
      .show_default()
      .group("Device");
  declare_mesh(line, options.mesh);
  line.add_option("--module", options.module,
                  "Only modules with this number (from 0) or a name that matches this regular expression")
      .group("Program");
  line.add_option("--while-trip-count", options.while_trip_count,
                  "Trip count to assume for while loops whose trip count is unknown")
      .from(0)
      .show_default()
      .group("Program");
  line.add_flag("--no-lower", options.no_lower,
                "Simulate unoptimized modules as is, without hlosim's TPU lowering passes")
      .group("Program");
  declare_custom_calls(line, options);
}

void declare_custom_calls(CommandLine& line, SimulationOptions& options) {
  line.add_option("--custom-call-costs", options.custom_call_costs,
                  "YAML file with costs of custom calls by target, kernel, name or op_name")
      .group("Program");
  line.add_option("--kernel-density", options.kernel_densities,
                  "Fraction of grid steps in which a Pallas kernel's data-dependent branch is taken (e.g. "
                  "mask density): "
                  "splash_mha_fwd=0.5; may be repeated")
      .one_value_each()
      .group("Program");
  line.add_option("--kernel-values", options.kernel_values,
                  "Values of a scalar operand of a Pallas kernel, which set trip counts in its body: "
                  "RPAd.*:0=64x1500 "
                  "(operand by number or name); may be repeated")
      .one_value_each()
      .group("Program");
}

namespace {

std::optional<SimulationSetting> usage_error(const Diagnostic& diagnostic, Streams streams) {
  tell(diagnostic, streams);
  return std::nullopt;
}

/// Null, with what is wrong printed.
std::shared_ptr<const CustomCallCosts> read_custom_calls(const SimulationOptions& options, Streams streams) {
  auto costs = std::make_shared<CustomCallCosts>();
  if (!options.custom_call_costs.empty()) {
    const Result<SourcePtr> source = read_input(options.custom_call_costs, streams);
    if (!source) {
      tell(source.error(), streams);
      return nullptr;
    }
    DiagnosticList problems;
    *costs = read_custom_call_costs(*source, problems);
    tell(problems, streams);
    if (problems.has_errors()) return nullptr;
  }
  for (const std::string& text : options.kernel_densities) {
    Result<KernelDensity> density = parse_kernel_density(text);
    if (!density) {
      complain("--kernel-density: " + density.error().message, density.error().hint, streams);
      return nullptr;
    }
    costs->densities.push_back(std::move(*density));
  }
  for (const std::string& text : options.kernel_values) {
    Result<KernelValues> values = parse_kernel_values(text);
    if (!values) {
      complain("--kernel-values: " + values.error().message, values.error().hint, streams);
      return nullptr;
    }
    costs->values.push_back(std::move(*values));
  }
  return costs;
}

void no_module_error(const SimulationOptions& options, const std::vector<std::string>& names,
                     Streams streams) {
  std::string known;
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    known += fmt::format("{}{} {}", i > 0 ? ", " : "", i, names[i]);
  if (names.size() > kShown) known += fmt::format(", and {} more", names.size() - kShown);
  tell(failure(fmt::format("--module: no module is called or numbered '{}'", shown(options.module)),
               names.empty() ? "" : fmt::format("there are: {}", known))
           .value(),
       streams);
}

/// For lines without --device: "hlosim module.hlo v5e" has one among the files.
std::string hint_of_devices(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    DiagnosticList ignored;
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown) && load_device(file, {}, {}, ignored))
      return fmt::format("did you mean \"--device={}\"?", file);
  }
  std::vector<std::string> devices = builtin_devices();
  std::erase(devices, "unit");  // no TPU: for examples whose times can be counted by hand
  return fmt::format("a device file, or one of {}", fmt::join(devices, ", "));
}

}  // namespace

std::optional<SimulationSetting> read_simulation(const SimulationOptions& options, Streams streams) {
  if (options.device.empty())
    return usage_error(failure("--device is missing", hint_of_devices(options.files)).value(), streams);
  SimulationSetting setting;
  const Result<ModuleChoice> choice = ModuleChoice::parse(options.module);
  if (!choice) return usage_error(choice.error(), streams);
  setting.choice = *choice;
  SimulateOptions& simulate = setting.estimate.simulate;
  if (options.no_lower) setting.estimate.lowering = Lowering::kNever;
  Result<std::optional<MeshRequest>> mesh = mesh_request(options.mesh, streams.limits);
  if (!mesh) return usage_error(mesh.error(), streams);
  setting.estimate.mesh = std::move(*mesh);
  if (options.mesh.no_partition) setting.estimate.partitioning = Partitioning::kNever;
  if (!options.topology.empty()) {
    const Result<SliceRequest> topology = parse_topology(options.topology);
    if (!topology) {
      Diagnostic diagnostic = topology.error();
      diagnostic.message = "--topology: " + diagnostic.message;
      return usage_error(diagnostic, streams);
    }
    simulate.slice = *topology;
  }
  simulate.slice.slices = options.slices;
  simulate.slice.devices = options.devices;
  simulate.unknown_trip_count = options.while_trip_count;
  simulate.keep_timeline = false;
  simulate.stop = &streams.stop;
  setting.custom_calls = read_custom_calls(options, streams);
  if (!setting.custom_calls) return std::nullopt;
  simulate.custom_calls = setting.custom_calls.get();
  std::optional<Device> device = read_device(options.device, options.choices, streams);
  if (!device) return std::nullopt;
  const Result<SliceRequest> slice = on_named_slice(simulate.slice, options.device, *device);
  if (!slice) {
    Diagnostic diagnostic = slice.error();
    diagnostic.message = "--topology: " + diagnostic.message;
    return usage_error(diagnostic, streams);
  }
  simulate.slice = *slice;
  const std::optional<CompilerChoices> compiler = read_compiler(options.choices, *device, streams);
  if (!compiler) return std::nullopt;
  setting.estimate.compiler = *compiler;
  setting.device = std::move(*device);
  return setting;
}

bool for_each_chosen(const SimulationOptions& options, const SimulationSetting& setting, Streams streams,
                     const std::function<bool(const Module&)>& each) {
  bool ok = true;
  std::vector<std::string> names;
  size_t chosen = 0;
  const std::optional<std::vector<ModuleFile>> files = module_files(options.files, streams);
  if (!files) return false;
  UnusedCustomCallCosts unused(*setting.custom_calls);
  for (const ModuleFile& file : *files) {
    const ModuleInput input = read_module_input(file.path, false, streams);
    ok = ok && input.ok;
    for (const Module& module : input.modules) {
      names.emplace_back(module.name);
      if (!setting.choice.takes(module.name, names.size() - 1) || !input.ok) continue;
      ++chosen;
      unused.add(module);
      warn_of_unpartitioned(module, options.mesh.no_partition, streams);
      if (!each(module)) ok = false;
    }
  }
  if (chosen > 0)
    for (const Diagnostic& warning : unused.warnings()) tell(warning, streams);
  if (chosen > 0 || !ok) return ok;
  no_module_error(options, names, streams);
  return false;
}

}  // namespace hlosim
