// Worth of a source line: the step's time if that line took nothing. Exact under the simulation, since the
// overlap of what is left is simulated anew.
//
//   for (const LineWorth& line : worth_of_lines(estimate, op_table(), device, options, 5))
//     std::cout << line.source_file << ':' << line.source_line << ' ' << line.without;
#pragma once

#include <string>
#include <vector>

#include "estimate/estimate.h"

namespace hlosim {

struct LineWorth {
  std::string what;  // "attention.py:212", or the op_name, or the instruction where there is no metadata
  std::string op_name;
  int64_t instructions = 0;  // that come from it
  Picoseconds time{};        // that they take by themselves
  Picoseconds without{};     // the step's, if they took nothing
};

/// The `most` lines with the largest own time, by what the step would gain. Collectives keep their time.
/// Empty where the module can't be simulated again.
std::vector<LineWorth> worth_of_lines(const Estimate& estimate, const OpTable& table, const Device& device,
                                      const SimulateOptions& options, size_t most);

}  // namespace hlosim
