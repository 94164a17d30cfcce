// One execution of one computation, in time that begins at 0: the step that simulate() repeats for every
// computation that runs as control flow, callees before callers.
//
//   const ComputationRun& body = done[module[loop].called(0)];
//   total += body.totals.makespan * trips;
//   for (const ReplayStep& step : body.steps) …  // again, at another time
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/simulate.h"

namespace hlosim {

class CollectiveCosts;
class MemorySystem;
class FusedCollectives;
class Offloads;

/// What one instruction does to the TensorCore and the lanes beside it: enough to do it again at another
/// time, when other transfers are in flight.
struct ReplayStep {
  enum class Kind : uint8_t {
    kWork,   // latencies, then a stream
    kStart,  // sets a transfer going
    kWait,   // for the transfer of the start number `which`
    kCall,   // of `callees`, one after the other, `times` times
  };
  Kind kind = Kind::kWork;
  bool drains_links = false, drains_host = false;  // waits for the lane first
  Lane lane = Lane::kDmaIn;
  double demand = 0;
  int32_t which = 0;
  Picoseconds fixed{}, stream{}, hbm_work{};  // of the TensorCore
  Picoseconds latency{}, transfer{};          // of what a start sets going
  std::shared_ptr<const LinkSet> links;       // as of Overlap::Transfer
  ComputationId callees[2];                   // the second may be invalid
  int64_t times = 0;
  Picoseconds between{};  // after each time
};

struct ComputationRun {
  Totals totals;                                // makespan, busy, … of one execution, callees included
  Picoseconds hbm_work{};                       // time that HBM would need for its traffic alone
  std::vector<InstructionRecord> instructions;  // in order; one execution
  std::vector<std::pair<InstructionId, InstructionCost>> costs;  // those that RunContext::costs has otherwise
  std::vector<TransferRecord> transfers;
  std::vector<Span> spans;
  std::vector<ReplayStep> steps;
};

/// Where the numbers come from that transfers and loops take their times from.
struct TransferProvenances {
  Provenance copy{}, loop{};
  std::array<Provenance, index_of(Unit::kMemory)> units{};  // those beside the TensorCore
};

/// Everything that a run needs and does not change.
struct RunContext {
  const Module& module;
  ShapePool& shapes;  // a copy of the module's
  const OpTable& table;
  const DeviceConfig& device;
  const SimulateOptions& options;
  const MemorySystem& memory;
  const Offloads& offloads;
  const FusedCollectives& fused;
  const InstructionCosts& costs;
  const Schedule& schedule;
  const Slice& slice;
  const DeviceGrid& grid;
  CollectiveCosts& collectives;  // of that slice
  TransferProvenances provenances;
  bool keeps_records = true;  // false: ComputationRun::instructions and costs stay empty

  Provenance provenance_of(Unit unit) const { return provenances.units[index_of(unit)]; }
};

/// What runs add to besides their own result.
struct RunSinks {
  AssumptionList& assumptions;
  std::vector<LoopRecord>& loops;
  std::vector<CalledRun>& calls;
};

/// Requires: `done` holds the runs of all computations that `id` calls.
Result<ComputationRun> run_computation(const RunContext& context, ComputationId id,
                                       const IdMap<ComputationId, ComputationRun>& done, RunSinks& sinks);

/// Adds `times` executions of `more`; the makespan stays.
void add_totals(Totals& totals, const Totals& more, int64_t count);

}  // namespace hlosim
