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

/// Whether `value` has changed because the user gave the one at `whole`, of which it keeps its share: a rate
/// of reads with the bandwidth of its memory.
bool keeps_share(const DeviceValue& value, std::string_view whole);

}  // namespace hlosim
