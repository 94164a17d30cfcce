// Runs a scheduled module on a device in simulated time.
//
// The TensorCore takes the instructions in order. Asynchronous copies, collectives and computations go on
// while it does; HBM bandwidth is shared max-min fair between all of them. A done waits until its start's
// work is finished: that wait is the exposed time, the rest of the transfer is hidden. A loop's body runs
// once and is multiplied by the trip count. docs/timing_model.md has the rules.
//
//   const Result<Simulation> run = simulate(module, table, device, {.slice = slice});
//   run->totals.makespan;                     // of the whole program [ps]
//   for (const InstructionRecord& record : run->instructions) …
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "interconnect/collective_cost.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "model/instruction_cost.h"
#include "ops/collective_groups.h"
#include "sim/schedule.h"
#include "sim/timeline.h"

namespace hlosim {

class Stop;

struct SimulateOptions {
  SliceRequest slice;              // --topology, --devices
  int64_t unknown_trip_count = 1;  // of while loops without a known count
  /// A copy-start with cross_program_prefetch_index was done by the run before: it costs this one nothing.
  bool cross_program_prefetch_is_done = false;
  const CustomCallCosts* custom_calls = nullptr;
  bool keep_timeline = true;
  /// Goes through loops iteration by iteration where they could be multiplied: slow, with the same result.
  bool every_iteration = false;
  const Stop* stop = nullptr;  // asked: the error says why

  /// The error once `stop` was asked.
  Result<void> go_on() const;
};

/// One instruction that ran as such, all its executions together.
struct InstructionRecord {
  InstructionId id;
  ComputationId computation;
  int64_t executions = 0;   // 0: in a branch that was not taken
  Picoseconds start{};      // of the first execution
  Picoseconds time{};       // of all executions, waiting included; of a loop, call or branch: with its body
  Picoseconds self_time{};  // time without that of called computations: these add up to the makespan
  Picoseconds exposed{};    // of it, waiting for what an async start began
  int32_t waited_for = -1;  // index into Simulation::transfers
  Unit bound_by = Unit::kNone;
};

enum class TransferKind : uint8_t { kCopy, kCollective, kHost, kComputation };
/// "copy", "collective", "host transfer", "computation"
std::string_view to_text(TransferKind kind);

/// A copy, collective, host transfer or computation beside the TensorCore, from its start to its done. The
/// instructions of such a computation have no records of their own. Synchronous collectives are here as well,
/// exposed from begin to end: duration = queued + exposed. Times are those of the first execution.
struct TransferRecord {
  InstructionId start_instruction;
  InstructionId done_instruction;  // the same for synchronous ones; invalid if nothing waits for it
  TransferKind kind = TransferKind::kCopy;
  int64_t executions = 0;
  Lane lane = Lane::kDmaIn;
  Picoseconds start{};                   // issued
  Picoseconds begin{};                   // first byte moves: the wait in a queue is over
  Picoseconds end{};                     // finished
  Picoseconds done{};                    // the done went on
  Picoseconds latency{};                 // from start until it could begin, had it not to queue
  Picoseconds alone{};                   // from begin to end, had it memory for itself
  Picoseconds queued{};                  // of the time before begin: others of its lane had to end first
  int32_t ahead = -1;                    // the last of these, in Simulation::transfers; -1: none
  Picoseconds duration{};                // end - start
  Picoseconds exposed{};                 // the TensorCore stood still for it
  Picoseconds hidden{};                  // duration - exposed; of synchronous ones, 0
  Bytes bytes{};                         // moved by a copy (array size); a collective's payload
  int64_t from_space = 0, to_space = 0;  // S(n) of a copy
  bool cross_program = false;
  std::optional<CollectiveCost> collective;  // of several in one wrapper: together()
  std::vector<CollectiveCost> wrapped;       // each of several in one wrapper, in order; else empty

  /// Each collective of the transfer, in order.
  std::span<const CollectiveCost> collectives() const {
    if (!wrapped.empty()) return wrapped;
    return {collective ? &*collective : nullptr, collective ? size_t{1} : 0};
  }
};

struct LoopRecord {
  InstructionId id;
  int64_t trip_count = 1;
  bool known = true;  // false: SimulateOptions::unknown_trip_count
  Picoseconds iteration{};
};

struct Totals {
  Picoseconds makespan{};
  Cycles cycles{};  // makespan × clock, rounded up
  Flops flops{};    // matrix products, logical
  int64_t vector_operations = 0;
  int64_t transcendentals = 0;
  UnitTimes busy{};        // each <= makespan
  SpaceTraffic traffic{};  // copies and collectives included
  Bytes logical_bytes{}, padded_bytes{};
  Bytes sent{};  // over the interconnect by one device, arrays
  Bytes scalar_sent{};
  Picoseconds exposed_copies{}, exposed_collectives{}, exposed_others{};
  Picoseconds idle{};                                         // all waiting of the TensorCore
  Picoseconds synchronous{};                                  // collectives that it runs itself
  std::array<Picoseconds, kCostCategoryCount> by_category{};  // with idle: adds up to the makespan
  std::array<Picoseconds, kProvenanceCount> by_provenance{};  // adds up to the makespan
  UnitTimes by_bound{};    // time of what each unit decided; with overhead and idle: the makespan
  Picoseconds overhead{};  // time of what latencies and starts decided
  /// No run of this module on this device is shorter: the busiest unit.
  Picoseconds lower_bound{};
  Unit bound_by = Unit::kNone;  // what decided the longest part: a unit, kOverhead or kWait

  /// All that the TensorCore stands still for: waiting, and synchronous collectives as a whole.
  Picoseconds exposed() const { return idle + synchronous; }
  /// Of it, for collectives.
  Picoseconds all_exposed_collectives() const { return exposed_collectives + synchronous; }
};

struct Simulation {
  Totals totals;
  /// Of one execution, as it ran: a collective's with its links, a start's with what it sets going; of a
  /// loop, call or branch its own overhead. Never null after simulate().
  std::shared_ptr<const InstructionCosts> costs;
  std::vector<InstructionRecord> instructions;  // in order of first execution
  std::vector<TransferRecord> transfers;        // in order of start
  std::vector<LoopRecord> loops;
  Timeline timeline;  // loops: the first iteration
  /// What each computation does in one execution; empty without SimulateOptions::keep_timeline.
  IdMap<ComputationId, ComputationTimeline> computations;
  AssumptionList assumptions;
  Slice slice;
  DeviceGrid grid;
  Schedule schedule;

  const InstructionCost& cost(const InstructionRecord& record) const { return (*costs)[record.id]; }
};

/// Requires: a verified module whose arrays carry their layouts (model/native_layouts.h). Errors: a slice
/// that does not hold the module's devices, collectives that contradict each other, a device with too many
/// memory spaces.
Result<Simulation> simulate(const Module& module, const OpTable& table, const Device& device,
                            const SimulateOptions& options = {});

}  // namespace hlosim
