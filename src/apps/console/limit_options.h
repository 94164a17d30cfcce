// What a command may take, as options of every command that reads modules: --max-rank, --max-devices,
// --max-seconds, --max-memory; and --dim, which StableHLO programs of dynamic shapes need.
//
//   declare_limits(line, limits);
//   …                                              // the line is parsed
//   if (!read_limits(line, streams)) return kExitInput;                    // what is wrong is printed
#pragma once

#include "base/resource_limits.h"
#include "console/streams.h"

namespace hlosim {

void declare_limits(CommandLine& line, Limits& limits);

/// The limits that are no plain numbers: the memory. False, with what is wrong printed.
bool read_limits(const CommandLine& line, Streams streams);

/// The sizes of --dim. False, with what is wrong printed.
bool read_dimensions(const CommandLine& line, Streams streams);

}  // namespace hlosim
