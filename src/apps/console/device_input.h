// The device that --device, --xla-flags and --set describe, with everything wrong printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/streams.h"
#include "flags/compiler_choices.h"
#include "model/device.h"

namespace hlosim {

class CommandLine;

/// What else the command line says about a device.
struct DeviceChoices {
  std::vector<std::string> overrides;  // --set: "path=value"
  std::vector<std::string> xla_flags;  // --xla-flags: flags, or @FILE with them
};

/// --set and --xla-flags.
void declare_device_choices(CommandLine& line, DeviceChoices& choices);

/// The device `name` (a path, a name in $HLOSIM_CONFIG_PATH, a built-in one) as the flags and then --set
/// change it.
std::optional<Device> read_device(const std::string& name, const DeviceChoices& choices, Streams streams);

/// What the flags say of modules that no compiler has touched. Null, with what is wrong printed.
std::optional<CompilerChoices> read_compiler(const DeviceChoices& choices, const Device& device,
                                             Streams streams);

/// The files that it was read from are no outputs. False, with what is wrong printed.
bool claim_files_of(const Device& device, Streams streams);

}  // namespace hlosim
