// Commands as functions, for programs that hold modules and arrays: they exchange values in place of files,
// and what is wrong comes as values too. Nothing is printed, nothing ends the process, no signal is taken.
//
//   Stop stop;
//   Exchange exchange;
//   exchange.inputs.push_back({.path = "<m>", .modules = {module}});
//   const CallResult done = call(std::vector<std::string>{"report", "<m>", "--device=v5e", "--format=json"},
//                                exchange, stop);
//   done.code, done.out, done.findings             // 0: done.out is the JSON that the command prints
//
// Any number of threads may call at once; --threads is the exception, it holds for all of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/stop.h"
#include "console/exchange.h"
#include "hlo/module.h"

namespace hlosim {

struct CallResult {
  int code = 0;                      // as the program's exit code: 1: the answer is no; 2: wrong input
  std::string out, err;              // what goes to standard output; notes that are no findings
  std::vector<Diagnostic> findings;  // errors, warnings and notes, in the order found
  bool failed() const { return code > 1; }
};

/// Runs the command that `line` names. `exchange.on_diagnostic` isn't called. Errors are findings: no such
/// command or option, --max-seconds (`stop` does that) and, but for run, --max-memory, which end processes.
CallResult call(std::span<const std::string> line, Exchange exchange, Stop& stop);

struct LoadResult {
  std::vector<std::shared_ptr<const Module>> modules;  // empty where `findings` has errors
  std::vector<Diagnostic> findings;
};

/// Reads and verifies the modules of a file, of a folder of dumps, or of `source` where there is one.
/// `options`: those of every command that reads modules, "--dim=8", "--partial".
LoadResult load_for_calls(const std::string& path, const SourcePtr& source,
                          std::span<const std::string> options);

}  // namespace hlosim
