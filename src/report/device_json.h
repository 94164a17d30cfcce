// `hlosim devices --format=json`: the values of a device with their sources.
#pragma once

#include <string>
#include <vector>

#include "model/device.h"

namespace hlosim {

/// One object: name, file, fingerprint, and every value as text with its source; ends in '\n'.
std::string to_json(const Device& device);
/// The array of several devices' names, descriptions, files and fingerprints.
std::string device_list_json(const std::vector<Device>& devices);

}  // namespace hlosim
