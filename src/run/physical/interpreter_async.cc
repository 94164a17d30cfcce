// What runs beside other things: from its start to its done.
#include <algorithm>

#include "physical/interpreter.h"

namespace hlosim {

template <class F>
void Interpreter::for_each_value_inside(ComputationId id, F&& f) const {
  for (const InstructionId instruction : order_[id]) {
    const Place first = top(instruction);
    for (Place place = first; place < analysis_.places.end(first); ++place)
      if (makes(place)) f(analysis_.values.at(place));
    if (facts(instruction).call == CallRule::kControlFlow)
      for (const ComputationId called : called_in_order(module_[instruction]))
        for_each_value_inside(called, f);
  }
}

/// A start, update or done of a wrapped computation, which runs where it has all its operands. Its results
/// arrive at the done.
void Interpreter::run_async(InstructionId id) {
  const bool is_done = facts(id).value == ValueRule::kAsyncDone;
  const ComputationId wrapped = analysis_.graph.wrapped(id);
  if (is_done) finish_async(id);
  const int32_t step = step_of_[static_cast<size_t>(id.index)];
  const bool runs_here = wrapped.valid() && analysis_.schedule.contains(wrapped) &&
                         analysis_.schedule.span_of[wrapped].end == step;
  if (runs_here) {
    for (const InstructionId parameter : module_[wrapped].parameters)
      for (Place place = top(parameter); place < analysis_.places.end(top(parameter)); ++place)
        store_.see(place);
    run(wrapped);
    if (stopped()) return;
    store_.now(id, step);
  }
  const Place first = top(id);
  for (Place place = first; place < analysis_.places.end(first) && !stopped(); ++place)
    if (makes(place))
      store_.define(place, Array{});
    else
      store_.see(place);
  if (!runs_here || is_done || stopped()) return;
  const int32_t transfer = begin(id);
  const Place operands = analysis_.places.child(first, 0), results = analysis_.places.child(first, 1);
  if (results == kNoPlace) return;
  const auto is_operand = [&](Place place) {
    for (Place other = operands; other < analysis_.places.end(operands); ++other)
      if (analysis_.values.at(other) == analysis_.values.at(place)) return true;
    return false;
  };
  for (Place place = results; place < analysis_.places.end(results); ++place)
    if (!analysis_.places.shape(place)->is_tuple() && !is_operand(place) && store_.failure_at(place) < 0)
      store_.send_off(place, transfer);
  for (Place place = operands; place < analysis_.places.end(operands); ++place)
    if (!analysis_.places.shape(place)->is_tuple()) store_.hold_source(transfer, place);
  for_each_value_inside(wrapped, [&](ValueIndex value) {
    if (!store_.is_under_way(analysis_.values[value].defined)) store_.hold_target(transfer, value);
  });
}

/// What the operands of a done sent off is there.
void Interpreter::finish_async(InstructionId id) {
  if (module_[id].operands.empty()) return;
  const std::vector<Place> leaves = operand_leaves(id);
  std::vector<int32_t> transfers;
  for (const Place place : leaves)
    if (const int32_t transfer = store_.transfer_at(place); transfer >= 0) transfers.push_back(transfer);
  // Where nothing is under way that arrays hold, the chain itself decides.
  for (InstructionId part = module_[id].operands[0]; transfers.empty();) {
    if (const auto begun = begun_.find(part); begun != begun_.end()) transfers.push_back(begun->second);
    const bool goes_back = facts(part).value == ValueRule::kAsyncUpdate;
    if (!goes_back) break;
    part = module_[part].operands[0];
  }
  // A done that has more to say than that the bytes are there: it gives them.
  if (table_[module_[id].opcode].evaluation != EvaluationKind::kNone &&
      facts(id).value != ValueRule::kAsyncDone) {
    std::vector<Array> operands;
    int32_t failure = -1;
    for (const Place place : leaves) {
      operands.push_back(store_.is_under_way(place) ? store_.expected(place) : store_.read(place));
      failure = std::max(failure, store_.failure_at(place));
    }
    if (stopped()) return;
    const std::vector<Array> results = evaluate(id, std::move(operands), failure);
    if (failure >= 0) return stop(failures_[static_cast<size_t>(failure)]);
    size_t leaf = 0;
    for_each_leaf_place(id, [&](Place place) {
      const Array& result = results[leaf++];
      if (makes(place) || !store_.is_under_way(place)) return;
      store_.see(place);
      store_.arrive(place, result);
    });
  }
  for (const Place place : leaves)
    if (store_.is_under_way(place)) store_.arrive(place, {});
  for (const int32_t transfer : transfers) store_.end(transfer);
}

int32_t Interpreter::begin(InstructionId start) { return begun_[start] = store_.begin(); }

void Interpreter::hold_operands(InstructionId id, int32_t transfer) {
  for (const Place place : operand_leaves(id)) store_.hold_source(transfer, place);
}

}  // namespace hlosim
