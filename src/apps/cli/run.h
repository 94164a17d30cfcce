// The whole program as a function: main() calls it, and so do the tests, in-process.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "console/streams.h"
#include "dist/ranks.h"

namespace hlosim {

/// Runs `hlosim args…`: `args` without the program's name. `in` stands for standard input (file name `-`).
/// Results go to `out`, diagnostics to `err`; the result is the exit code. Several ranks run it together.
int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err,
        Ranks& ranks = lone_rank());

}  // namespace hlosim
