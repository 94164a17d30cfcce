// What a command may take, as options of every command that reads modules: --max-rank, --max-devices.
//
//   Limits limits;
//   declare_limits(line, limits);                  // the parsed line sets them
//   read_modules(source, table, findings, limits)
#pragma once

#include "base/limits.h"

namespace hlosim {

class CommandLine;  // cli/command_line.h

void declare_limits(CommandLine& line, Limits& limits);

}  // namespace hlosim
