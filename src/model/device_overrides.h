// The same device with other values, without reading its files again.
#pragma once

#include <optional>
#include <span>

#include "model/device.h"

namespace hlosim {

/// What load_device() would give for the device's name with `overrides` after those it already has.
/// Requires: a device that load_device() made.
std::optional<Device> with_overrides(const Device& device, std::span<const DeviceOverride> overrides,
                                     DiagnosticList& problems);

}  // namespace hlosim
