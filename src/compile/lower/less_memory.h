// Smaller standard sizes of on-chip memory.
//
//   for (const Device& smaller : with_less_on_chip(device)) …
#pragma once

#include <vector>

#include "model/device.h"

namespace hlosim {

/// The device with less room for values in its on-chip memory (lower/on_chip.h): each power of two of MiB that is
/// less than what there is, the largest first, down to kLeastRoom, and none. What lowering makes of a module with one of
/// these is right on the device too. As every device with at least as much memory has the same ones, none
/// need take longer than those with less.
std::vector<Device> with_less_on_chip(const Device& device);

}  // namespace hlosim
