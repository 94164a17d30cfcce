// The decisions of a module about on-chip memory: from HLO to a PrefetchProblem, and from plans back to HLO.
//
//   Result<PrefetchModel> model = make_prefetch_model(module, table, device, order, baseline, simulate, {});
//   const PrefetchPlans best = greedy_prefetch(model->problem, {});
//   model->origins[0].sources                      // the instructions that are the first value
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module_editor.h"
#include "lower/on_chip.h"
#include "memory/flat_schedule.h"
#include "model/device.h"
#include "prefetch/prefetch_problem.h"
#include "sim/simulate.h"

namespace hlosim {

/// Where one value of the problem is in its module.
struct PrefetchOrigin {
  std::vector<InstructionId> sources;  // the array, by all names: what makes it or takes it out of a tuple
  InstructionId maker;                 // the step that makes it; invalid: none does
  int64_t element = -1;                // of the maker's result; -1: it is all of it
  struct Slot {
    InstructionId user;
    int32_t operand = 0;
  };
  std::vector<std::vector<Slot>> slots;  // by use
  int64_t cut = -1, cut_at = 0;          // dimension, and index where its second half begins; -1: it has none
};

/// Something on the chip that isn't decided here.
struct PrefetchFixed {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;  // steps, both included
};

struct PrefetchModel {
  PrefetchProblem problem;
  OnChip chip;
  InstructionOrder order;               // by computation
  std::vector<ComputationId> regions;   // as in the problem
  std::vector<InstructionId> steps;     // as in the problem
  std::vector<PrefetchOrigin> origins;  // by value
  std::vector<PrefetchFixed> fixed;
  std::vector<std::string> assumptions;
  bool cut = false;  // by out_of_time: parts are missing
};

/// What of a device an assigner may take otherwise.
struct PrefetchLimits {
  int64_t capacity = -1;  // bytes for values; -1: what the device has beside the scratch
  int64_t scratch = -1;   // of it, where `capacity` isn't given; -1: the device's vmem.scoped_limit
  int64_t alignment = 1024;
  double copy_rate = 1;  // part of the copy speed that is trusted
  int32_t max_prefetches = -1, max_evictions = -1;
  bool replace_copies = false, replace_slices = false;  // synchronous ones by asynchronous ones
  int32_t extra_prefetches = 0;                         // at a time, while one of these is under way
};

/// `order`: how the instructions of each computation run. `baseline`: a simulation of the module in that
/// order. Requires: a verified module whose arrays have tiles, else compacted (modules/compact.h); it
/// outlives the result, whose names are views into it. Once `out_of_time` returns true, the result is of no
/// use (`cut`). Errors: as cost_instructions().
Result<PrefetchModel> make_prefetch_model(const Module& module, const OpTable& table, const Device& device,
                                          const InstructionOrder& order, const Simulation& baseline,
                                          const SimulateOptions& simulate, const PrefetchLimits& limits,
                                          const std::function<bool()>& out_of_time = {});

/// `module`: the model's, with or without tiles. The module with the copies and memory spaces of `plans`,
/// scheduled. `cross_program`: the value whose first copy belongs to the run before; -1: none.
Module apply_prefetches(const Module& module, const OpTable& table, const PrefetchModel& model,
                        const std::vector<ValuePlan>& plans, int32_t cross_program = -1);

}  // namespace hlosim
