// What the TPU compiler writes about the blocks of an instruction into its backend_config.
#pragma once

#include <optional>
#include <string_view>

#include "model/kernel_blocks.h"

namespace hlosim {

/// Numbers of blocks of a product in window_config's iteration_bounds: output features, rows, contracting.
/// Null where the text has none, or not three positive numbers.
std::optional<GivenBlocks> given_blocks(std::string_view backend_config);

}  // namespace hlosim
