// The commands of the program, one file each.
//
//   std::function<int()> declare_check(CommandLine& line, Streams streams) {
//     line.add_option("FILE", options->files, "HLO text files");
//     return [options, streams] { return check(*options, streams); };        // the exit code
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/source.h"
#include "base/stop.h"
#include "dist/ranks.h"
#include "stablehlo/options.h"

namespace hlosim {

class CommandLine;  // cli/command_line.h
struct Verbosity;   // cli/verbosity.h

/// Where a command reads and writes.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Ranks& ranks;                     // this process among those that were started together
  SourcePtr& standard_input;        // what `in` held, once it was read: `-` may be named twice
  Verbosity& verbosity;             // how much is said, and how
  Limits& limits;                   // what the command may take
  Stop& stop;                       // whether it is to end
  stablehlo::ConvertOptions& mlir;  // what StableHLO programs are read with
  bool& partial;                    // modules are read as far as they are there
};

struct Command {
  std::string_view name;  // may have several words, e.g. "tune prefetch"
  std::string_view summary;
  /// Declares options on `line`; the result runs the command once the line is parsed.
  std::function<int()> (*declare)(CommandLine& line, Streams streams);
  bool on_ranks = false;      // several ranks share its work
  bool reads_modules = true;  // and takes the options of limit_options.h
};

std::function<int()> declare_report(CommandLine& line, Streams streams);
std::function<int()> declare_trace(CommandLine& line, Streams streams);
std::function<int()> declare_graph(CommandLine& line, Streams streams);
std::function<int()> declare_check(CommandLine& line, Streams streams);
std::function<int()> declare_run(CommandLine& line, Streams streams);
std::function<int()> declare_cost(CommandLine& line, Streams streams);
std::function<int()> declare_print(CommandLine& line, Streams streams);
std::function<int()> declare_ops(CommandLine& line, Streams streams);
std::function<int()> declare_layout(CommandLine& line, Streams streams);
std::function<int()> declare_explain(CommandLine& line, Streams streams);
std::function<int()> declare_kernel(CommandLine& line, Streams streams);
std::function<int()> declare_systolic(CommandLine& line, Streams streams);
std::function<int()> declare_devices(CommandLine& line, Streams streams);
std::function<int()> declare_buffers(CommandLine& line, Streams streams);
std::function<int()> declare_accuracy(CommandLine& line, Streams streams);
std::function<int()> declare_shrink(CommandLine& line, Streams streams);
std::function<int()> declare_lower(CommandLine& line, Streams streams);
std::function<int()> declare_tune_prefetch(CommandLine& line, Streams streams);
std::function<int()> declare_tune_schedule(CommandLine& line, Streams streams);
std::function<int()> declare_sweep(CommandLine& line, Streams streams);
std::function<int()> declare_tune_layout(CommandLine& line, Streams streams);

}  // namespace hlosim
