// The largest number of devices that a mesh or a sharding may have.
#pragma once

#include <cstdint>

namespace hlosim {

constexpr int64_t kMostDevices = int64_t{1} << 24;

}  // namespace hlosim
