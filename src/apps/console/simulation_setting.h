// What commands that simulate modules on a device have in common on their command line.
//
//   declare_simulation(line, options->simulation);
//   const auto setting = read_simulation(options->simulation, streams);
//   if (!setting) return kExitInput;               // what is wrong is printed already
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "console/device_input.h"
#include "console/mesh_options.h"
#include "console/streams.h"
#include "estimate/estimate.h"
#include "model/custom_call_costs.h"
#include "model/device.h"
#include "sim/simulate.h"

namespace hlosim {

/// Options as the line gives them.
struct SimulationOptions {
  std::vector<std::string> files;
  std::string device;
  DeviceChoices choices;
  std::string topology;
  std::optional<int64_t> devices;
  int64_t slices = 1;
  std::string module;
  int64_t while_trip_count = 1;
  std::string custom_call_costs;
  std::vector<std::string> kernel_densities;
  bool no_lower = false;
  MeshOptions mesh;
  std::vector<std::string> kernel_values;
};

/// FILE, --device, --set, --xla-flags, --topology, --devices, --slices, --mesh and what goes with it,
/// --module,
/// --while-trip-count, --no-lower, --custom-call-costs, --kernel-density, --kernel-values.
void declare_simulation(CommandLine& line, SimulationOptions& options);
/// The last three of them.
void declare_custom_calls(CommandLine& line, SimulationOptions& options);

/// Which modules --module asks for: all, one by its number, or those whose name a regular expression finds.
class ModuleChoice {
 public:
  static Result<ModuleChoice> parse(const std::string& text);
  /// `index` counts the modules of all files, from 0.
  bool takes(std::string_view name, size_t index) const;

 private:
  std::optional<size_t> index_;
  Pattern pattern_;
};

/// Everything that the estimates of all modules share.
struct SimulationSetting {
  Device device;
  std::shared_ptr<const CustomCallCosts> custom_calls;  // that `estimate` points to
  EstimateOptions estimate;
  ModuleChoice choice;
};

/// Null, with what is wrong printed.
std::optional<SimulationSetting> read_simulation(const SimulationOptions& options, Streams streams);

/// Runs `each` on every chosen module of all files, folders of dumps opened (module_files.h). False when
/// something was wrong: it is printed.
bool for_each_chosen(const SimulationOptions& options, const SimulationSetting& setting, Streams streams,
                     const std::function<bool(const Module&)>& each);

}  // namespace hlosim
