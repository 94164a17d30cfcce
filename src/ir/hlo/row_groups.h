// The groups that the rows of a ragged-dot are of.
#pragma once

#include <string_view>

namespace hlosim {

/// Key of a ragged-dot's frontend attributes: the number of groups that its rows are of, where those of other
/// devices are among them and have no product here.
inline constexpr std::string_view kRowGroupsAttribute = "hlosim.row_groups";

}  // namespace hlosim
