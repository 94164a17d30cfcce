// What the program may take before it gives up: each is a number that users raise by the option named with
// it.
//
//   Limits limits;                                 // the defaults
//   limits.seconds = 2.5;                          // as --max-seconds=2.5 does
//   limits.memory.has_value()                      // false: as much as the machine has
#pragma once

#include <cstdint>
#include <optional>

namespace hlosim {

struct Limits {
  std::optional<double> seconds;  // --max-seconds: from start to end; absent: any time
  std::optional<int64_t> memory;  // --max-memory: bytes that the process holds; absent: any amount
};

}  // namespace hlosim
