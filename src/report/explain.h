// Why one instruction takes the time it takes: the equation of docs/timing_model.md with its numbers, term by
// term, each number with where it comes from.
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
#include "model/cost_details.h"
#include "model/device.h"
#include "sim/simulate.h"

namespace hlosim {

struct ExplainedNumber {
  std::string name;    // "cadence"
  std::string value;   // "16 cycles"
  std::string key;     // the device's key, "mxu.types.bf16.cadence"; empty: not of the device file
  std::string source;  // "published: …", "the module", "of the terms above"
};

struct ExplainedTerm {
  std::string name;     // "MXU", "first block in", "time"
  std::string formula;  // in the names of the numbers
  std::vector<ExplainedNumber> numbers;
  Picoseconds result{};
  std::string amount{};  // what comes out where that is no time: "1.00 GiB"

  void add(std::string number, std::string value, std::string_view source = "the module") {
    numbers.push_back({std::move(number), std::move(value), "", std::string(source)});
  }
  /// A value of the device file, if it has the key.
  void add_key(const Device& device, std::string number, const std::string& key);
};

/// A collective, alone or inside of what an async start calls.
struct ExplainedCollective {
  std::string instruction, opcode;
  CollectiveGroups groups;
  CollectiveCost cost;
  std::string slice;  // "2x4 (no wrap-around)"
  bool between_slices = false;
  bool is_start = false;  // of an asynchronous one
};

/// What the instruction starts, is done with, or is itself.
struct ExplainedTransfer {
  TransferRecord record;
  std::string start, done;  // done empty: nothing waits for it
  std::vector<ExplainedCollective> collectives;
  std::vector<std::string> behind;  // starts of what it had to queue for, in order
  std::vector<std::string> beside;  // starts of what moved data in other lanes meanwhile
  /// What sharing HBM adds to its time.
  Picoseconds sharing() const;
};

struct Explanation {
  std::string instruction, opcode, computation, device;
  int64_t line = 0;
  std::vector<ExplainedTerm> terms;  // those of units, then of blocks, then the whole: the last one's result
                                     // is the instruction's time on its own
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
  std::vector<ExplainedTransfer> transfers;
};

/// The instruction of that name, with or without %, in the computation of that name (empty: in any); of
/// several the first one that runs on its own, else the first. Invalid: there is none.
InstructionId find_instruction(const Module& module, const Simulation& simulation, std::string_view name,
                               std::string_view computation);

/// Requires: the module's arrays carry the layouts of `simulation`'s run on the device.
/// Errors: as cost_details().
Result<Explanation> explain(const Module& module, const OpTable& table, const Device& device,
                            const CostOptions& options, InstructionId id, const Simulation& simulation);

std::string to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

}  // namespace hlosim
