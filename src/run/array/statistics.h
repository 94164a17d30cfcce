// What one says of an array without showing it.
//
//   const Statistics s = statistics(array);
//   fmt::format("{} to {}, {} NaN, crc {:08x}", s.min, s.max, s.nans, s.checksum)
#pragma once

#include <cstdint>

#include "array/array.h"

namespace hlosim {

/// Over the elements within the runtime sizes; the parts of complex numbers count as two elements. min, max
/// and mean are those of the finite elements, 0 where there is none.
struct Statistics {
  int64_t count = 0;  // numbers: elements, or twice as many parts
  int64_t nans = 0;
  int64_t infinities = 0;
  double min = 0, max = 0, mean = 0;  // 64-bit integers rounded to the nearest double
  /// CRC-32C of the elements' bytes in row-major order, little-endian, byte_width(type) each. So -0 and 0
  /// differ, and NaNs by their payload.
  uint32_t checksum = 0;
};

Statistics statistics(const Array& array);

/// CRC-32C (Castagnoli): 0xe3069283 for "123456789".
uint32_t crc32c(const std::byte* data, int64_t count);

}  // namespace hlosim
