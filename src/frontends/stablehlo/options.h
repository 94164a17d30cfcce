// What a user says about a StableHLO program before it is converted.
//
//   ConvertOptions options;
//   options.dimensions = {{"batch", 8}};           // --dim batch=8
//   options.dimensions = {{"", 8}, {"", 128}};     // --dim 8 --dim 128: in order of appearance
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hlosim::stablehlo {

/// The size of a dynamic dimension of an entry's arguments.
struct DimensionSize {
  std::string name;  // empty: the next one in order
  int64_t size = 0;
  bool operator==(const DimensionSize&) const = default;
};

struct ConvertOptions {
  std::vector<DimensionSize> dimensions;
};

}  // namespace hlosim::stablehlo
