// Hints for words that hlosim does not have but other tools do: `simulate`, `--chip`, `--html`.
//
//   hint_of_synonym("simulate")   // did you mean "report"?
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

class CommandLine;  // console/command_line.h

/// For a command's name that means one of ours; empty: it is none that we know.
std::string hint_of_synonym(std::string_view word);

/// For the option `given` ("--html=page.html") that `command` does not have. Never empty.
std::string hint_of_option(std::string_view given, const std::string& command, const CommandLine& declared);

}  // namespace hlosim
