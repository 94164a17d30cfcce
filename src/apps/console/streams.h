// What a command is given, and what it ends with.
//
//   int check(const Options& options, Streams streams) {
//     streams.out << result;
//     return kExitSuccess;
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>

#include "base/files_in_use.h"
#include "base/resource_limits.h"
#include "base/source.h"
#include "base/stop.h"
#include "dist/ranks.h"
#include "stablehlo/options.h"

namespace hlosim {

/// What the process ends with.
enum ExitCode : int {
  kExitSuccess = 0,
  kExitFailedCheck = 1,  // the answer is "no": a limit exceeded, a difference found
  kExitInput = 2,        // wrong command line, module, device file or environment
  kExitInterrupted = 130,
};

class CommandLine;  // console/command_line.h
struct Verbosity;   // console/verbosity.h
struct Exchange;    // console/exchange.h

/// Where a command reads and writes.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Ranks& ranks;                        // this process among those that were started together
  SourcePtr& standard_input;           // what `in` held, once it was read: `-` may be named twice
  Verbosity& verbosity;                // how much is said, and how
  Limits& limits;                      // what the command may take
  Stop& stop;                          // whether it is to end
  stablehlo::ConvertOptions& mlir;     // what StableHLO programs are read with
  bool& partial;                       // modules are read as far as they are there
  FilesInUse& files;                   // what the command reads and writes
  const Exchange* exchange = nullptr;  // with the program that calls the command; null: a person does
};

struct Command {
  std::string_view name;  // may have several words, e.g. "tune prefetch"
  std::string_view summary;
  /// Declares options on `line`; the result runs the command once the line is parsed.
  std::function<int()> (*declare)(CommandLine& line, Streams streams);
  bool on_ranks = false;      // several ranks share its work
  bool reads_modules = true;  // and takes the options of limit_options.h
};

}  // namespace hlosim
