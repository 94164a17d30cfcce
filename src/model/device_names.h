// Devices by the names that people use: accelerator types with their slice, JAX's device kinds, marketing
// names, the profiler's device types. All of them are keys of device files, `names` and `ici.slices`.
//
//   load_device("v5p-128", {}, search, problems)->topology         // "4x4x4", of 64 chips: v5p counts cores
//   device_of_name("TPU v6 Lite", search)                          // "v6e"
//   profiler_name(device->config)                                  // "TPU v6 Lite"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "model/device.h"

namespace hlosim {

/// A device file that states names itself. Those that `extends:` brings are the extended file's.
struct NamedFile {
  SourcePtr source;
  std::string device;  // as --device takes it: "v5e"
  NamesConfig names;
};

/// The file that states `name`, whatever its case, with or without a slice: the first in the directories of
/// `search`, else a built-in one. Files that can't be read are passed over.
std::optional<NamedFile> find_named_file(std::string_view name, const DeviceSearch& search);

/// The device for a name without a slice, as a profile or a runtime has it; empty: there is none.
std::string device_of_name(std::string_view name, const DeviceSearch& search);

/// As --topology takes it: "4x4x4" of "v5p-128"; empty where `name` is none of the device's accelerator types
/// with a slice. Errors: a size that the device has no slice of (the nearest are named), a shape of another
/// rank, something else after "-".
Result<std::string> slice_of_name(const DeviceConfig& device, std::string_view name);

/// The profiler's name for the device, or its own where it has none.
std::string profiler_name(const DeviceConfig& device);

/// For a name that leads nowhere: `did you mean "v6e-64"?` for "v6-64", the devices of the nearest generation
/// for a number that there is none of. Empty for what isn't written like a generation.
std::string nearest_generation(std::string_view name, const DeviceSearch& search);

/// A Markdown table of the built-in devices' names, part of docs/devices.md.
std::string names_markdown();

}  // namespace hlosim
