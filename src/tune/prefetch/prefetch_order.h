// The order of steps as something that is decided: which ones may change places, and problems and models in
// another order.
//
//   find_freedom(module, table, model);
//   std::vector<int32_t> order = order_of(model.problem);   // 0, 1, 2, …
//   std::swap(order[3], order[4]);                          // if freedom allows it
//   PrefetchModel other = in_order(module, model, order);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prefetch/prefetch_model.h"

namespace hlosim {

/// Numbers of the steps, as they stand.
std::vector<int32_t> order_of(const PrefetchProblem& problem);

/// The steps of `problem` run in `order`. `given`: the same problem in the order that gave them their
/// numbers.
void set_order(PrefetchProblem& problem, const PrefetchProblem& given, std::span<const int32_t> order);

/// Only neighbours `first` and `first` + 1, of the whole problem. `values`: those that one of them makes or
/// uses. Requires: freedom allows it.
void exchange(PrefetchProblem& problem, int32_t first, std::span<const int32_t> values);

/// Plans that were made for another order, as far as they can be done in this one.
void adapt(const PrefetchValue& value, const PrefetchProblem& problem, ValuePlan& plan);

/// By number of the step: values that it makes or uses.
std::vector<std::vector<int32_t>> values_of_steps(const PrefetchProblem& problem);

/// Every order that freedom allows, the given one first; nothing if there are more than `most`.
std::vector<std::vector<int32_t>> all_orders(const PrefetchProblem& problem, size_t most);

/// The model with its steps in another order. Requires: numbers are those of `model`.
PrefetchModel in_order(const Module& module, const PrefetchModel& model, std::span<const int32_t> order);

/// What costs no time stands just before what needs it.
InstructionOrder with_free_ones_late(const Module& module, const OpTable& table,
                                     const InstructionOrder& order);

/// Fills the problem's freedom: steps depend on one another through operands, control predecessors and memory
/// that they share. Loops, calls, what is asynchronous, collectives, and what uses the state of the device
/// stay where they are. Requires: the order of the model is one of with_free_ones_late().
void find_freedom(const Module& module, const OpTable& table, PrefetchModel& model);

}  // namespace hlosim
