// Shardings as XLA prints them: where its reader takes blanks and line ends between the numbers of tiles and
// devices, its printer has none.
//
//   spelled_as_printed("{devices=[2, 1]0,\n 1}")        // "{devices=[2,1]0,1}"
//   spelled_as_printed("{devices=[2]0,1manual}")        // "{devices=[2]0,1 manual}"
//   spelled_as_printed("{devices=[2,1]0,1}")            // nullopt
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hlosim {

/// `text` fits the grammar of shardings. nullopt: it is spelled so; what isn't about tiles stays as it is.
std::optional<std::string> spelled_as_printed(std::string_view text);

}  // namespace hlosim
