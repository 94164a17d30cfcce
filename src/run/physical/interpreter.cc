#include "physical/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/effects.h"
#include "hlo/finding.h"
#include "ops/endless_loops.h"

namespace hlosim {

Interpreter::Interpreter(Module& module, const OpTable& table, const BufferAnalysis& analysis,
                         DeviceState& device, const PhysicalOptions& options)
    : module_(module),
      table_(table),
      analysis_(analysis),
      device_(device),
      store_(analysis, table, device.pool(), options),
      programs_(module, table, device.pool(), options.program),
      step_of_(module.instructions.size(), -1),
      order_(module.computations.size()),
      is_needed_(module.instructions.size(), 0),
      activation_(module.instructions.size(), 0),
      activations_(module.computations.size(), 0) {
  const std::vector<InstructionId>& steps = analysis.schedule.steps;
  find_needed();
  for (size_t i = 0; i < steps.size(); ++i) {
    step_of_[static_cast<size_t>(steps[i].index)] = static_cast<int32_t>(i);
    order_[module[steps[i]].parent].push_back(steps[i]);
  }
}

/// Instructions that results and the outside need. The others run as well, but leave no trace in the device.
void Interpreter::find_needed() {
  for (const Computation& computation : module_.computations) {
    is_needed_[computation.root] = 1;
    std::vector<InstructionId> open = {computation.root};
    for (const InstructionId id : computation.instructions) {
      if (is_needed_[id] || !has_effect(module_, table_, module_[id])) continue;
      is_needed_[id] = 1;
      open.push_back(id);
    }
    while (!open.empty()) {
      const InstructionId at = open.back();
      open.pop_back();
      for (const InstructionId operand : module_[at].operands) {
        if (is_needed_[operand]) continue;
        is_needed_[operand] = 1;
        open.push_back(operand);
      }
    }
  }
}

Result<PhysicalResult> Interpreter::run(std::vector<Array> inputs) {
  if (std::optional<Diagnostic> problem = store_.layout_problem()) return tl::unexpected(std::move(*problem));
  load(std::move(inputs));
  run(module_.entry);
  PhysicalResult result;
  if (!stopped()) result.outputs = take_results();
  if (error_) return tl::unexpected(*error_);
  if (store_.failed()) result.outputs.clear();
  result.fault = store_.fault();
  result.steps = steps_;
  result.bytes_written = store_.bytes_written();
  return result;
}

/// Constants and parameters are there before anything runs.
void Interpreter::load(std::vector<Array> inputs) {
  for (const InstructionId id : analysis_.schedule.steps) {
    if (!facts(id).is_constant || stopped()) continue;
    store_.now(id, step_of_[static_cast<size_t>(id.index)]);
    int32_t failure = -1;
    const std::vector<Array> values = evaluate(id, {}, failure);
    size_t leaf = 0;
    const Place first = top(id);
    for (Place place = first; place < analysis_.places.end(first); ++place) {
      const bool is_table = analysis_.places.shape(place)->is_tuple();
      if (failure >= 0)
        store_.define_failed(place, failure);
      else
        store_.define(place, is_table ? Array{} : values[leaf++]);
    }
  }
  size_t input = 0;
  for (const InstructionId id : module_.entry_computation().parameters) {
    store_.now(id, 0);
    const Place first = top(id);
    for (Place place = first; place < analysis_.places.end(first); ++place)
      store_.define(place, analysis_.places.shape(place)->is_tuple() ? Array{} : inputs[input++]);
  }
}

std::vector<Array> Interpreter::take_results() {
  const InstructionId root = module_.entry_computation().root;
  store_.now(root, analysis_.schedule.end());
  std::vector<Array> outputs;
  std::vector<ShapeRef> shapes;
  const Attr* layout = module_.find(AttrKey::kEntryComputationLayout);
  std::vector<ShapeRef> declared;
  // What an unscheduled module's header wants is for later passes to bring about.
  if (layout && !layout->shapes().empty() && module_.is_scheduled())
    for_each_leaf(layout->shapes().back(), [&](ShapeRef leaf) { declared.push_back(leaf); });
  for_each_leaf_place(root, [&](Place place) {
    if (const int32_t failure = store_.failure_at(place); failure >= 0)
      stop(failures_[static_cast<size_t>(failure)]);
    const size_t leaf = outputs.size();
    if (leaf < declared.size() && declared[leaf]->is_array() && declared[leaf]->layout)
      store_.check_space(place, declared[leaf]->memory_space());
    outputs.push_back(store_.read(place));
    shapes.push_back(analysis_.places.shape(place));
  });
  finish_results(outputs, shapes, device_.pool());
  return outputs;
}

void Interpreter::run(ComputationId id) {
  ++activations_[id];
  for (const InstructionId instruction : order_[id]) {
    if (device_.stops_at(module_, module_[instruction])) stop(*device_.failure());
    if (stopped()) return;
    execute(instruction);
    if (stopped()) return;
    store_.free_ending_at(step_of_[static_cast<size_t>(instruction.index)]);
  }
}

/// An instruction that stands before its operand reads what isn't there.
bool Interpreter::operands_are_there(InstructionId id) {
  const Instruction& instruction = module_[id];
  for (const InstructionId operand : instruction.operands) {
    if (activation_[operand] == activations_[instruction.parent]) continue;
    const bool waits = table_[module_[operand].opcode].has(kAsyncDone);
    store_.add_fault(waits ? FaultKind::kReadBeforeDone : FaultKind::kReadPoison,
                     fmt::format("{} comes only at step {}", module_[operand].name,
                                 step_of_[static_cast<size_t>(operand.index)]));
    return false;
  }
  return true;
}

void Interpreter::execute(InstructionId id) {
  ++steps_;
  store_.now(id, step_of_[static_cast<size_t>(id.index)]);
  if (!operands_are_there(id)) return;
  activation_[id] = activations_[module_[id].parent];
  if (facts(id).is_constant) return;
  const bool outer = idle_;
  idle_ = idle_ || !is_needed_[id];
  perform(id);
  idle_ = outer;
}

void Interpreter::perform(InstructionId id) {
  switch (facts(id).value) {
    case ValueRule::kParameter:
      return;
    case ValueRule::kLoop:
      return run_loop(id);
    case ValueRule::kConditional:
      return run_conditional(id);
    case ValueRule::kCall:
      return run_call(id);
    case ValueRule::kAsyncStart:
    case ValueRule::kAsyncUpdate:
    case ValueRule::kAsyncDone:
      return run_async(id);
    default:
      break;
  }
  if (table_[module_[id].opcode].has(kAsyncDone)) finish_async(id);
  compute(id);
  forward_parts(id);
}

// ── control flow ────────────────────────────────────────────────

void Interpreter::pass(Place from, Place to) {
  const int32_t count = std::min(analysis_.places.end(from) - from, analysis_.places.end(to) - to);
  for (int32_t i = 0; i < count && !stopped(); ++i) store_.pass(from + i, to + i);
}

int64_t Interpreter::integer_at_place(InstructionId id) {
  if (const int32_t failure = store_.failure_at(top(id)); failure >= 0) {
    stop(failures_[static_cast<size_t>(failure)]);
    return 0;
  }
  const Array value = store_.read(top(id));
  return stopped() ? 0 : integer_at(value, 0);
}

void Interpreter::run_loop(InstructionId id) {
  const std::vector<ComputationId> called = called_in_order(module_[id]);
  const InstructionId condition = module_[called[0]].parameters[0], body = module_[called[1]].parameters[0];
  const int32_t step = step_of_[static_cast<size_t>(id.index)];
  const LoopEnd end = loop_end(module_, table_, module_[id]);
  Place state = top(module_[id].operands[0]);
  while (!stopped()) {
    pass(state, top(condition));
    if (stopped()) return;
    run(called[0]);
    if (stopped()) return;
    store_.now(id, step);
    const bool goes_on = integer_at_place(module_[called[0]].root) != 0;
    state = top(condition);
    if (!goes_on || stopped()) break;
    if (const char* const why = never_ends(end)) return stop(error_at(module_, module_[id], why));
    pass(state, top(body));
    if (stopped()) return;
    run(called[1]);
    store_.now(id, step);
    state = top(module_[called[1]].root);
  }
  pass(state, top(id));
  free_skipped(called[1]);
}

void Interpreter::run_conditional(InstructionId id) {
  const std::vector<ComputationId> branches = called_in_order(module_[id]);
  const InstructionId selector = module_[id].operands[0];
  int64_t chosen = integer_at_place(selector);
  if (stopped()) return;
  const int64_t last = static_cast<int64_t>(branches.size()) - 1;
  if (is_pred(module_[selector].shape->element_type)) chosen = chosen != 0 ? 0 : 1;
  if (chosen < 0 || chosen > last) chosen = last;
  const ComputationId branch = branches[static_cast<size_t>(chosen)];
  pass(top(module_[id].operands[static_cast<size_t>(chosen) + 1]), top(module_[branch].parameters[0]));
  if (stopped()) return;
  run(branch);
  if (stopped()) return;
  store_.now(id, step_of_[static_cast<size_t>(id.index)]);
  pass(top(module_[branch].root), top(id));
  for (const ComputationId other : branches)
    if (other != branch) free_skipped(other);
}

/// What only a branch that wasn't taken, or one more turn of a loop, would have used.
void Interpreter::free_skipped(ComputationId id) {
  const FlatSchedule::Span span = analysis_.schedule.span_of[id];
  for (int32_t step = span.start; step < span.end; ++step) store_.free_ending_at(step);
}

void Interpreter::run_call(InstructionId id) {
  const ComputationId callee = called_in_order(module_[id])[0];
  for (size_t i = 0; i < module_[id].operands.size() && !stopped(); ++i)
    pass(top(module_[id].operands[i]), top(module_[callee].parameters[i]));
  if (stopped()) return;
  run(callee);
  if (stopped()) return;
  store_.now(id, step_of_[static_cast<size_t>(id.index)]);
  pass(top(module_[callee].root), top(id));
}

// ── one instruction ─────────────────────────────────────────────

std::vector<Place> Interpreter::operand_leaves(InstructionId id) const {
  std::vector<Place> leaves;
  for (const InstructionId operand : module_[id].operands)
    for_each_leaf_place(operand, [&](Place place) { leaves.push_back(place); });
  return leaves;
}

int32_t Interpreter::add_failure(const Diagnostic& why) {
  failures_.push_back(why);
  return static_cast<int32_t>(failures_.size()) - 1;
}

const Callable* Interpreter::program(InstructionId id, int32_t& failure) {
  const auto found = made_.find(id);
  if (found != made_.end()) {
    if (!found->second) failure = failure_of_[id];
    return found->second.get();
  }
  Result<std::shared_ptr<const Callable>> made = programs_.make(id);
  std::shared_ptr<const Callable>& entry = made_[id];
  if (made)
    entry = std::move(*made);
  else
    failure = failure_of_[id] = add_failure(made.error());
  return entry.get();
}

/// The leaves of the result. `failure`: why there are none.
std::vector<Array> Interpreter::evaluate(InstructionId id, std::vector<Array> operands, int32_t& failure) {
  const Callable* made = program(id, failure);
  if (!made) return {};
  std::vector<Array> results(made->result_count());
  // What goes wrong concerns those who need the result: the device goes on.
  DeviceState device(device_);
  made->call(device, operands, results);
  if (device.failed()) {
    failure = add_failure(*device.failure());
    return {};
  }
  if (!idle_) device_ = std::move(device);
  return results;
}

void Interpreter::compute(InstructionId id) {
  bool makes_leaf = false;
  const Place first = top(id);
  for (Place place = first; place < analysis_.places.end(first); ++place)
    makes_leaf |= makes(place) && !analysis_.places.shape(place)->is_tuple();
  const OpDef& def = table_[module_[id].opcode];
  const bool is_done = def.has(kAsyncDone);
  std::vector<Array> results;
  int32_t failure = -1;
  const std::vector<Place> leaves = operand_leaves(id);
  if (makes_leaf && !is_done) {
    std::vector<Array> operands;
    for (const Place place : leaves) {
      failure = std::max(failure, store_.failure_at(place));
      operands.push_back(failure >= 0 ? Array{} : store_.read(place));
    }
    if (stopped()) return;
    if (failure < 0) results = evaluate(id, std::move(operands), failure);
    if (failure >= 0 && def.has(kSideEffect)) return stop(failures_[static_cast<size_t>(failure)]);
  } else if (facts(id).use != UseRule::kNone) {
    // Tables are looked at where elements are taken out of them.
    for (const InstructionId operand : module_[id].operands)
      if (analysis_.places.shape(top(operand))->is_tuple() && store_.failure_at(top(operand)) < 0)
        store_.read(top(operand));
    if (stopped()) return;
  }
  const int32_t transfer = def.has(kAsyncStart) ? begin(id) : -1;
  size_t leaf = 0;
  for (Place place = first; place < analysis_.places.end(first) && !stopped(); ++place) {
    const bool is_table = analysis_.places.shape(place)->is_tuple();
    const Array value = is_table || results.empty() ? Array{} : results[leaf];
    if (!is_table) ++leaf;
    if (!makes(place)) continue;
    if (failure >= 0)
      store_.define_failed(place, failure);
    else if (transfer >= 0 && !is_table)
      store_.define_later(place, value, transfer);
    else
      store_.define(place, value);
  }
  if (transfer >= 0) hold_operands(id, transfer);
}

/// Where a part of a result that the instruction doesn't make comes from.
Place Interpreter::source_of(InstructionId id, int32_t part) const {
  const Places& places = analysis_.places;
  const Instruction& instruction = module_[id];
  const auto operand = [&](size_t i) {
    return i < instruction.operands.size() ? top(instruction.operands[i]) : kNoPlace;
  };
  const Place first = top(id), here = first + part;
  const auto inside = [&](int64_t element, Place from) {
    const Place at = places.child(first, element);
    const bool is_in = at != kNoPlace && from != kNoPlace && here >= at && here < places.end(at) &&
                       here - at < places.end(from) - from;
    return is_in ? from + (here - at) : kNoPlace;
  };
  const auto element = [&](int64_t number) { return places.child(operand(0), number); };
  const ValueRule rule = facts(id).value;
  switch (rule) {
    case ValueRule::kTuple:
      for (size_t i = 0; i < instruction.operands.size(); ++i)
        if (const Place from = inside(static_cast<int64_t>(i), operand(i)); from != kNoPlace) return from;
      return kNoPlace;
    case ValueRule::kShallowCopy:
    case ValueRule::kForwards:
      return operand(0) + part;
    case ValueRule::kElement:
      return element(instruction.find(AttrKey::kIndex)->integer()) + part;
    case ValueRule::kCopyStart:
      return inside(1, operand(0));
    case ValueRule::kCopyDone:
      return element(0) + part;
    case ValueRule::kSend:
      return inside(0, operand(0));
    case ValueRule::kRecvDone:
      return inside(0, element(0));
    default:
      return kNoPlace;
  }
}

void Interpreter::forward_parts(InstructionId id) {
  const ValueRule rule = facts(id).value;
  const Place first = top(id);
  for (int32_t part = 0; first + part < analysis_.places.end(first) && !stopped(); ++part) {
    if (makes(first + part)) continue;
    const Place from = source_of(id, part);
    if (from == kNoPlace || analysis_.values.at(from) != analysis_.values.at(first + part))
      store_.see(first + part);
    else
      store_.forward(from, first + part, rule == ValueRule::kForwards);
  }
}

Result<PhysicalResult> run_physically(Module& module, const OpTable& table, const BufferAnalysis& analysis,
                                      DeviceState& device, std::vector<Array> inputs,
                                      const PhysicalOptions& options) {
  return Interpreter(module, table, analysis, device, options).run(std::move(inputs));
}

int64_t physical_bytes(const BufferAnalysis& analysis) { return Placement(analysis).total(); }

std::string_view to_text(FaultKind kind) {
  constexpr std::string_view kTexts[] = {"read before done",
                                         "read of poison",
                                         "read of what was overwritten",
                                         "overlap",
                                         "wrong memory space",
                                         "operand changed under way",
                                         "bitcast is not a no-op",
                                         "misplaced",
                                         "outside of memory"};
  return kTexts[static_cast<size_t>(kind)];
}

}  // namespace hlosim
