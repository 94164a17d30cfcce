#include "evaluate/control_flow_evaluation.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "elementwise/element_program.h"
#include "evaluate/devices/joint.h"
#include "hlo/literal.h"
#include "ops/called_checks.h"
#include "ops/endless_loops.h"
#include "ops/leaf_forwarding.h"

namespace hlosim {
namespace {

void set_results(Invocation& call, std::vector<Array>& values) {
  for (size_t i = 0; i < values.size(); ++i) call.set_result(std::move(values[i]), i);
}

// ── loops over scalars ──────────────────────────────────────────

// The state is one value of at most 16 bytes per leaf, in two copies: body reads one and writes the other.
class ScalarLoop {
 public:
  ScalarLoop(std::shared_ptr<const ElementProgram> condition, std::shared_ptr<const ElementProgram> body,
             LoopEnd end)
      : condition_(std::move(condition)), body_(std::move(body)), end_(end) {}

  void run(Invocation& call) const {
    using Value = std::array<std::byte, 16>;
    const size_t leaves = call.operand_count();
    std::vector<Value> states[2] = {std::vector<Value>(leaves), std::vector<Value>(leaves)};
    std::vector<void*> places[2];
    for (int s = 0; s < 2; ++s)
      for (Value& value : states[s]) places[s].push_back(value.data());
    for (size_t i = 0; i < leaves; ++i)
      std::memcpy(places[0][i], call.operand(i).bytes(),
                  static_cast<size_t>(data_bytes(call.operand(i).shape)));

    ElementRunner condition(*condition_, 1), body(*body_, 1);
    int now = 0;
    for (int64_t iteration = 1;; ++iteration, now ^= 1) {
      if (call.stops()) return call.device().stopped_in(call.instruction(), iteration);
      bool go_on = false;
      void* const answer[] = {&go_on};
      condition.run(const_cast<const void* const*>(places[now].data()), answer, 1);
      if (!go_on) break;
      if (const char* const why = never_ends(end_)) return call.fail(why);
      body.run(const_cast<const void* const*>(places[now].data()), places[now ^ 1].data(), 1);
    }
    for (size_t i = 0; i < leaves; ++i) {
      const Array& result = call.make_result(i);
      std::memcpy(result.bytes(), places[now][i], static_cast<size_t>(data_bytes(result.shape)));
    }
  }

 private:
  std::shared_ptr<const ElementProgram> condition_, body_;
  LoopEnd end_;
};

}  // namespace

Evaluation evaluate_call(EvaluateContext& op) {
  const std::optional<OpenedCall> opened = opened_call(op);
  HLOSIM_CHECK(opened, "{} calls nothing", op.instruction().name);
  return [callee = op.callable(opened->computation)](Invocation& call) {
    std::vector<Array> arguments, results(callee->result_count());
    for (size_t i = 0; i < callee->argument_count(); ++i) arguments.push_back(call.take(i));
    callee->call(call.device(), arguments, results);
    if (!call.device().failed()) set_results(call, results);
  };
}

Evaluation evaluate_while(EvaluateContext& op) {
  const ComputationId condition_id = op.called(AttrKey::kCondition), body_id = op.called(AttrKey::kBody);
  // Whatever the body does with other devices or the host: there is no result.
  const LoopEnd end = loop_end(op.module(), op.table(), op.instruction());
  if (end == LoopEnd::kNever) return [](Invocation& call) { call.fail(never_ends(LoopEnd::kNever)); };
  const auto scalar_condition = op.element_program(condition_id), scalar_body = op.element_program(body_id);
  if (scalar_condition && scalar_body)
    return [loop = ScalarLoop(scalar_condition, scalar_body, end)](Invocation& call) { loop.run(call); };

  return [condition = op.callable(condition_id), body = op.callable(body_id), end](Invocation& call) {
    std::vector<Array> state, arguments;
    for (size_t i = 0; i < call.operand_count(); ++i) state.push_back(call.take(i));
    std::vector<Array> answer(1);
    for (int64_t iteration = 1;; ++iteration) {
      if (call.stops() || call.device().failed())
        return call.device().stopped_in(call.instruction(), iteration);
      arguments = state;
      condition->call(call.device(), arguments, answer);
      if (call.device().failed()) return call.device().stopped_in(call.instruction(), iteration);
      if (integer_at(answer[0], 0) == 0) break;
      if (const char* const why = never_ends(end)) return call.fail(why);
      arguments.swap(state);
      for (Array& old : state) old = Array();  // the body's arguments aren't held elsewhere
      body->call(call.device(), arguments, state);
      if (call.device().failed()) return call.device().stopped_in(call.instruction(), iteration);
    }
    set_results(call, state);
  };
}

namespace {

struct Branch {
  std::shared_ptr<const Callable> callable;
  size_t first_leaf;  // of its arguments
};

std::vector<Branch> branches_of(const EvaluateContext& op) {
  std::vector<Branch> branches;
  for (const ComputationId computation : branches_in(op))
    branches.push_back({op.callable(computation), op.first_leaf(static_cast<int64_t>(branches.size()) + 1)});
  return branches;
}

/// The branch that operand 0 selects.
size_t selected_branch(const Invocation& call, size_t count, bool is_pred) {
  const int64_t selector = integer_at(call.operand(0), 0);
  if (is_pred) return selector ? 0 : 1;
  return selector < 0 || selector >= static_cast<int64_t>(count) ? count - 1 : static_cast<size_t>(selector);
}

std::vector<Array> taken_arguments(Invocation& call, const Callable& callee, size_t first_leaf) {
  std::vector<Array> arguments;
  for (size_t i = 0; i < callee.argument_count(); ++i) arguments.push_back(call.take(first_leaf + i));
  return arguments;
}

}  // namespace

Evaluation evaluate_conditional(EvaluateContext& op) {
  return [made = branches_of(op),
          is_pred = op.operand_shape(0)->element_type == ElementType::kPred](Invocation& call) {
    const Branch& branch = made[selected_branch(call, made.size(), is_pred)];
    std::vector<Array> arguments = taken_arguments(call, *branch.callable, branch.first_leaf);
    std::vector<Array> results(branch.callable->result_count());
    branch.callable->call(call.device(), arguments, results);
    if (!call.device().failed()) set_results(call, results);
  };
}

// ── several devices ─────────────────────────────────────────────

namespace {

/// What one device brings to a computation that several run together.
struct Part {
  Invocation* call;
  std::vector<Array> arguments, results;
};

void run_parts(CollectiveCall& call, const Callable& callee, std::span<Part*> parts) {
  std::vector<DeviceCall> calls;
  for (Part* part : parts) {
    part->results.assign(callee.result_count(), Array());
    calls.push_back({&part->call->device(), part->arguments, part->results});
  }
  callee.call_jointly(call.run(), calls);
}

}  // namespace

JointEvaluation evaluate_call_jointly(EvaluateContext& op) {
  const std::optional<OpenedCall> opened = opened_call(op);
  HLOSIM_CHECK(opened, "{} calls nothing", op.instruction().name);
  const auto callee = op.callable(opened->computation);
  if (!callee->is_joint()) return nullptr;
  return [callee](CollectiveCall& call) {
    std::vector<Part> parts;
    for (Invocation& member : call.members())
      parts.push_back({&member, taken_arguments(member, *callee, 0), {}});
    std::vector<Part*> all;
    for (Part& part : parts) all.push_back(&part);
    run_parts(call, *callee, all);
    if (call.failed()) return;
    for (Part& part : parts) set_results(*part.call, part.results);
  };
}

JointEvaluation evaluate_while_jointly(EvaluateContext& op) {
  const auto condition = op.callable(op.called(AttrKey::kCondition)),
             body = op.callable(op.called(AttrKey::kBody));
  if (!condition->is_joint() && !body->is_joint()) return nullptr;
  const LoopEnd end = loop_end(op.module(), op.table(), op.instruction());
  if (end == LoopEnd::kNever) return [](CollectiveCall& call) { call.fail(never_ends(LoopEnd::kNever)); };
  return [condition, body, end](CollectiveCall& call) {
    std::vector<Part> parts;
    for (Invocation& member : call.members()) {
      parts.push_back({&member, {}, {}});
      for (size_t i = 0; i < member.operand_count(); ++i) parts.back().arguments.push_back(member.take(i));
    }
    std::vector<Part*> staying;
    for (Part& part : parts) staying.push_back(&part);
    for (int64_t iterations = 0; !staying.empty(); ++iterations) {
      if (call.members().front().stops())
        return call.members().front().device().stopped_in(call.instruction(), iterations + 1);
      std::vector<std::vector<Array>> states;
      for (Part* part : staying) states.push_back(part->arguments);
      run_parts(call, *condition, staying);
      if (call.failed()) return;
      std::vector<Part*> next;
      for (size_t i = 0; i < staying.size(); ++i) {
        Part& part = *staying[i];
        part.arguments = std::move(states[i]);
        if (integer_at(part.results[0], 0) != 0)
          next.push_back(&part);
        else
          call.run().absence(part.call->device().id) = {Absence::Way::kLeft, &call.instruction(), iterations};
      }
      staying = std::move(next);
      if (staying.empty()) break;
      if (const char* const why = never_ends(end)) return call.fail(why);
      states.clear();  // the body's arguments aren't held elsewhere
      run_parts(call, *body, staying);
      if (call.failed()) return;
      for (Part* part : staying) part->arguments = std::move(part->results);
    }
    for (Part& part : parts) {
      call.run().absence(part.call->device().id) = {};
      set_results(*part.call, part.arguments);
    }
  };
}

JointEvaluation evaluate_conditional_jointly(EvaluateContext& op) {
  std::vector<Branch> made = branches_of(op);
  if (std::none_of(made.begin(), made.end(),
                   [](const Branch& branch) { return branch.callable->is_joint(); }))
    return nullptr;
  return [made = std::move(made),
          is_pred = op.operand_shape(0)->element_type == ElementType::kPred](CollectiveCall& call) {
    std::vector<std::vector<Part>> parts(made.size());
    for (Invocation& member : call.members()) {
      const size_t index = selected_branch(member, made.size(), is_pred);
      parts[index].push_back(
          {&member, taken_arguments(member, *made[index].callable, made[index].first_leaf), {}});
      call.run().absence(member.device().id) = {Absence::Way::kBranch, &call.instruction(),
                                                static_cast<int64_t>(index)};
    }
    for (size_t index = 0; index < made.size(); ++index) {
      std::vector<Part*> taking;
      for (Part& part : parts[index]) taking.push_back(&part);
      if (!taking.empty()) run_parts(call, *made[index].callable, taking);
      if (call.failed()) return;
    }
    for (std::vector<Part>& taking : parts)
      for (Part& part : taking) {
        call.run().absence(part.call->device().id) = {};
        set_results(*part.call, part.results);
      }
  };
}

}  // namespace hlosim
