// What an asynchronous start sets going: over which lane, for how long on its own, with which share of HBM.
//
//   const Result<TransferPlan> plan = plan_transfer(context, start, done, sinks);
//   plan->latency + plan->stream;             // with nothing else under way
#pragma once

#include "sim/computation_run.h"

namespace hlosim {

struct FusedCollective;

struct TransferPlan {
  TransferRecord record;  // what is known before it runs
  Picoseconds latency{};
  Picoseconds stream{};    // on its own
  Picoseconds hbm_work{};  // of it, time that HBM at its full rate needs
  UnitTimes busy{};        // of the units that it keeps busy beside the TensorCore
  Bytes sent{}, scalar_sent{};
  InstructionCost cost;  // of the start: its own time, the traffic and counts of what it sets going
};

/// Requires: an async start with its cost; `done` holds the run of the computation that it calls, if any.
/// Errors: those of cost_collective.
Result<TransferPlan> plan_transfer(const RunContext& context, InstructionId start,
                                   const IdMap<ComputationId, ComputationRun>& done, RunSinks& sinks);

/// Interconnect cost of a collective, synchronous or a start.
Result<CollectiveCost> fused_network_cost(const RunContext& context, const FusedCollective& fused,
                                          RunSinks& sinks);
Result<CollectiveCost> network_cost(const RunContext& context, InstructionId id, RunSinks& sinks);

/// S(n) of operand and result, as far as they have one.
void describe_spaces(TransferRecord& transfer, const Module& module, const Instruction& instruction);

}  // namespace hlosim
