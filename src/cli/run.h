// The whole program as a function: main() calls it, and so do the tests, in-process.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace hlosim {

/// What the process ends with.
enum ExitCode : int {
  kExitSuccess = 0,
  kExitFailedCheck = 1,  // the answer is "no": a limit exceeded, a difference found
  kExitUsage = 2,        // wrong command line or environment
  kExitInput = 3,        // a module that doesn't read or verify, a file that can't be read
  kExitDevice = 4,       // a device file that isn't right
};

/// Runs `hlosim args…`: `args` without the program's name. `in` stands for standard input (file name `-`).
/// Results go to `out`, diagnostics to `err`; the result is the exit code.
int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace hlosim
