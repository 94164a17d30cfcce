// Sizes of dynamic dimensions as users write them.
//
//   parse_dimensions("batch=8,128")                // {{"batch", 8}, {"", 128}}
#pragma once

#include <string_view>
#include <vector>

#include "base/source.h"
#include "stablehlo/options.h"

namespace hlosim::stablehlo {

/// From `8`, `batch=8`, `arg0.1=8`, several of them between commas. The error names what is no size.
Result<std::vector<DimensionSize>> parse_dimensions(std::string_view text);

}  // namespace hlosim::stablehlo
