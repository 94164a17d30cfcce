// The device that --device and --set describe, with everything wrong printed.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/commands.h"
#include "model/device.h"

namespace hlosim {

/// The device `name` (a path, a name in $HLOSIM_CONFIG_PATH, a built-in one) with overrides "path=value".
std::optional<Device> read_device(const std::string& name, std::span<const std::string> overrides,
                                  Streams streams);

}  // namespace hlosim
