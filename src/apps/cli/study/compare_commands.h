// Commands that hold runs against each other.
#pragma once

#include "cli/commands.h"

namespace hlosim {

std::function<int()> declare_diff(CommandLine& line, Streams streams);
std::function<int()> declare_bisect(CommandLine& line, Streams streams);
std::function<int()> declare_gate(CommandLine& line, Streams streams);
std::function<int()> declare_init(CommandLine& line, Streams streams);

}  // namespace hlosim
