// XLA's memory-space assigner on a PrefetchProblem: the baseline of the tuner. docs/prefetch.md lists what of
// it is simplified.
//
//   const XlaPlans found = xla_prefetch(model.problem, knobs, xla_hints(module, table, model, knobs));
//   found.plans[0]                                 // of the first value; found.offsets[0]: where it lies
#pragma once

#include <functional>

#include "hlo/module.h"
#include "prefetch/prefetch_knobs.h"
#include "prefetch/prefetch_model.h"

namespace hlosim {

/// What overrides say, by value.
struct XlaHints {
  std::vector<int64_t> priority;                       // lower ones first; empty: all 0
  std::vector<std::vector<int32_t>> preferred_starts;  // by use; -1: none; may be empty
};
XlaHints xla_hints(const Module& module, const OpTable& table, const PrefetchModel& model,
                   const XlaKnobs& knobs);

struct XlaPlans {
  std::vector<ValuePlan> plans;               // by value
  std::vector<std::vector<int64_t>> offsets;  // by value, as stays() lists them
  std::vector<int32_t> cross_program;         // values that the run before brings
  bool cut = false;                           // by out_of_time: what comes last in order was not looked at
};

/// Once `out_of_time` returns true, the values that are left stay in HBM. Requires: the problem's limits are
/// those of `knobs`.
XlaPlans xla_prefetch(const PrefetchProblem& problem, const XlaKnobs& knobs, const XlaHints& hints,
                      const std::function<bool()>& out_of_time = {});

}  // namespace hlosim
