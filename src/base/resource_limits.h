// What the program may take before it gives up: each is a number that users raise by the option named with
// it.
//
//   Limits limits;                                 // the defaults
//   limits.seconds = 2.5;                          // as --max-seconds=2.5 does
//   limits.memory.has_value()                      // false: as much as the machine has
//   limits.rank                                    // 64, unless --max-rank says another number
#pragma once

#include <cstdint>
#include <optional>

namespace hlosim {

struct Limits {
  std::optional<double> seconds;       // --max-seconds: from start to end; absent: any time
  std::optional<int64_t> memory;       // --max-memory: bytes that the process holds; absent: any amount
  int64_t rank = 64;                   // --max-rank: dimensions of one array
  int64_t devices = int64_t{1} << 18;  // --max-devices: devices that a program runs on
};

}  // namespace hlosim
