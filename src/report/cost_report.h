// `hlosim cost`: the counters of XLA's HloCostAnalysis, for a module's entry computation and each of its
// instructions.
//
//   const CostReport costs[] = {cost_report(module, op_table())};
//   std::cout << costs[0].total.flops << '\n' << to_json(costs);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Counts as XLA has them, in single precision: whole numbers up to 2^24, rounded beyond; -1 for unknown.
struct CostRow {
  std::string name, opcode;
  double flops = 0, transcendentals = 0, bytes_accessed = 0;
};

struct CostReport {
  std::string module, entry;
  CostRow total;  // of the entry computation
  /// Parts of its bytes_accessed: sums over its instructions by number of operand, and of results. Of what
  /// loops, calls and branches access, XLA doesn't tell the parts, and these leave it out.
  std::vector<double> operand_bytes;
  double output_bytes = 0;
  std::vector<CostRow> instructions;  // of the entry computation, text order
};

/// Requires: a verified module.
CostReport cost_report(Module& module, const OpTable& table);

/// Totals, then a line per instruction.
std::string to_text(const CostReport& report);

/// One JSON object for one report, an array for several; ends in '\n'.
/// {"schema_version":1, "module":…, "flops":…, "transcendentals":…, "bytes_accessed":…,
///  "operand_bytes_accessed":[…], "output_bytes_accessed":…, "instructions":[…]}
std::string to_json(std::span<const CostReport> reports);

}  // namespace hlosim
