// What a ragged-dot's frontend attributes say of its groups and of its kernel.
#pragma once

#include <string_view>

namespace hlosim {

/// Key of a ragged-dot's frontend attributes: the number of groups that its rows are of, where those of other
/// devices are among them and have no product here.
inline constexpr std::string_view kRowGroupsAttribute = "hlosim.row_groups";

/// XLA's key for the tiles of the kernel: rows, contracted terms and columns of one product, "512,1024,1024".
inline constexpr std::string_view kRaggedTilingAttribute = "ragged_dot_tiling";

/// "true": one core of the device executes the kernel with those tiles, as tokamax's.
inline constexpr std::string_view kOneCoreAttribute = "hlosim.one_core";

}  // namespace hlosim
