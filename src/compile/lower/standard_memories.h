// Standard sizes of on-chip memory.
//
//   for (const Device& room : standard_memories(device)) …
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device.h"

namespace hlosim {

/// The device with each standard size of its on-chip memories (VMEM, CMEM) that it has room for, the largest
/// first; the last one has no room for values. Standard are vmem.least_size and its doubles, less
/// vmem.kept_back. A memory below the least keeps its size. What lowering makes of a module for one of
/// these runs on the device. A device with more memory has the same ones and larger ones, so that the
/// fastest of what they give never gets slower with more memory.
std::vector<Device> standard_memories(const Device& device);

/// "values take 64 of the 96 MiB of vmem…", where that leaves memory unused.
std::optional<std::string> unused_on_chip(const Device& device);

}  // namespace hlosim
