// What a profiler calls devices: "TPU v6 Lite" is v6e here.
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

/// The built-in device for a profiler's or runtime's name of a chip; empty: not known.
std::string device_of_type(std::string_view device_type);

/// The profiler's name for a generation; for others the device's own name.
std::string type_of_device(std::string_view generation, std::string_view name);

}  // namespace hlosim
