// One execution of one computation, in time that begins at 0: the step that simulate() repeats for every
// computation that runs as control flow, callees before callers.
#pragma once

#include <vector>

#include "sim/simulate.h"

namespace hlosim {

class MemorySystem;

struct ComputationRun {
  Totals totals;                                // makespan, busy, … of one execution, callees included
  Picoseconds hbm_work{};                       // time that HBM would need for its traffic alone
  std::vector<InstructionRecord> instructions;  // in order; one execution
  std::vector<TransferRecord> transfers;
  std::vector<Span> spans;
};

/// How often an instruction runs a computation it calls, and where in its own time the first time begins.
struct CalledRun {
  InstructionId caller;
  ComputationId callee;
  int64_t times = 0;     // 0: a branch that is not taken
  Picoseconds offset{};  // of the first execution, from the caller's start
  bool beside = false;   // runs beside the TensorCore: an async computation
};

/// Everything that a run needs and does not change.
struct RunContext {
  Module& module;
  const OpTable& table;
  const DeviceConfig& device;
  const SimulateOptions& options;
  const MemorySystem& memory;
  const InstructionCosts& costs;
  const Schedule& schedule;
  const Slice& slice;
  const DeviceGrid& grid;
  Provenance copy_provenance{}, link_provenance{}, host_provenance{}, loop_provenance{};
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
