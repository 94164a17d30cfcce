// Why one instruction takes the time it takes: the terms that the model recorded (terms/terms.h), and what
// the run added.
//
//   const Result<Explanation> why = explain(module, table, device, {}, id, simulation);
//   std::cout << to_text(*why);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/custom_call_costs.h"
#include "model/device.h"
#include "sim/simulate.h"
#include "sim/transfer_terms.h"
#include "terms/terms.h"

namespace hlosim {

struct Explanation {
  std::string instruction, opcode, computation, device;
  int64_t line = 0;
  std::vector<Term> terms;  // the last one is the instruction's time on its own
  InstructionCost cost;
  std::string bound_by;
  int64_t executions = 0;            // in this run
  Picoseconds in_run{};              // all of them, waiting included
  Picoseconds waited{};              // of these
  std::string waited_for;            // start of what it waited for last; empty: nothing
  Picoseconds shared{};              // of these, as transfers had a part of the memory's bandwidth
  std::string bound_in_run;          // as the report has it; differs from `bound_by` where it shares
  std::vector<std::string> run_by;   // what runs it where it doesn't run on its own: fusions, starts
  const LoopRecord* loop = nullptr;  // of the simulation: the instruction is a loop that ran
  std::string given_by;  // a custom call: the entry of the user's file that it is costed by; else empty
  std::vector<TransferTerms> transfers;
};

/// The instruction of that name, with or without %, in the computation of that name (empty: in any); of
/// several the first one that runs on its own, else the first. Invalid: there is none.
InstructionId find_instruction(const Module& module, const Simulation& simulation, std::string_view name,
                               std::string_view computation);

/// Requires: the module's arrays carry the layouts of `simulation`'s run on the device.
/// Errors: as cost_with_terms().
Result<Explanation> explain(const Module& module, const OpTable& table, const Device& device,
                            const CostOptions& options, InstructionId id, const Simulation& simulation);

std::string to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

}  // namespace hlosim
