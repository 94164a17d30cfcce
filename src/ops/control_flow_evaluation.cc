#include "ops/control_flow_evaluation.h"

#include <array>
#include <cstring>

#include "ops/element_program.h"
#include "ops/value_flow.h"

namespace hlosim {
namespace {

void set_results(Invocation& call, std::vector<Array>& values) {
  for (size_t i = 0; i < values.size(); ++i) call.set_result(std::move(values[i]), i);
}

// ── loops over scalars ──────────────────────────────────────────

// The state is one value of at most 16 bytes per leaf, in two copies: body reads one and writes the other.
class ScalarLoop {
 public:
  ScalarLoop(std::shared_ptr<const ElementProgram> condition, std::shared_ptr<const ElementProgram> body)
      : condition_(std::move(condition)), body_(std::move(body)) {}

  void run(Invocation& call) const {
    using Value = std::array<std::byte, 16>;
    const size_t leaves = call.operand_count();
    std::vector<Value> states[2] = {std::vector<Value>(leaves), std::vector<Value>(leaves)};
    std::vector<void*> places[2];
    for (int s = 0; s < 2; ++s)
      for (Value& value : states[s]) places[s].push_back(value.data());
    for (size_t i = 0; i < leaves; ++i)
      std::memcpy(places[0][i], call.operand(i).bytes(), static_cast<size_t>(data_bytes(call.operand(i).shape)));

    ElementRunner condition(*condition_, 1), body(*body_, 1);
    int now = 0;
    for (;; now ^= 1) {
      bool go_on = false;
      void* const answer[] = {&go_on};
      condition.run(const_cast<const void* const*>(places[now].data()), answer, 1);
      if (!go_on) break;
      body.run(const_cast<const void* const*>(places[now].data()), places[now ^ 1].data(), 1);
    }
    for (size_t i = 0; i < leaves; ++i) {
      const Array& result = call.make_result(i);
      std::memcpy(result.bytes(), places[now][i], static_cast<size_t>(data_bytes(result.shape)));
    }
  }

 private:
  std::shared_ptr<const ElementProgram> condition_, body_;
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
  const auto scalar_condition = op.element_program(condition_id), scalar_body = op.element_program(body_id);
  if (scalar_condition && scalar_body)
    return [loop = ScalarLoop(scalar_condition, scalar_body)](Invocation& call) { loop.run(call); };

  return [condition = op.callable(condition_id), body = op.callable(body_id)](Invocation& call) {
    std::vector<Array> state, arguments;
    for (size_t i = 0; i < call.operand_count(); ++i) state.push_back(call.take(i));
    std::vector<Array> answer(1);
    while (!call.device().failed()) {
      arguments = state;
      condition->call(call.device(), arguments, answer);
      if (call.device().failed() || integer_at(answer[0], 0) == 0) break;
      arguments.swap(state);
      for (Array& old : state) old = Array();  // the body's arguments are nobody else's
      body->call(call.device(), arguments, state);
    }
    if (!call.device().failed()) set_results(call, state);
  };
}

Evaluation evaluate_conditional(EvaluateContext& op, std::vector<ComputationId> branches) {
  struct Branch {
    std::shared_ptr<const Callable> callable;
    size_t first_leaf;
  };
  std::vector<Branch> made;
  for (const ComputationId branch : branches)
    made.push_back({op.callable(branch), op.first_leaf(static_cast<int64_t>(made.size()) + 1)});
  const bool is_pred = op.operand_shape(0)->element_type == ElementType::kPred;
  return [made = std::move(made), is_pred](Invocation& call) {
    const int64_t selector = integer_at(call.operand(0), 0);
    const auto count = static_cast<int64_t>(made.size());
    const int64_t index = is_pred ? (selector ? 0 : 1) : selector < 0 || selector >= count ? count - 1 : selector;
    const Branch& branch = made[static_cast<size_t>(index)];
    std::vector<Array> arguments, results(branch.callable->result_count());
    for (size_t i = 0; i < branch.callable->argument_count(); ++i)
      arguments.push_back(call.take(branch.first_leaf + i));
    branch.callable->call(call.device(), arguments, results);
    if (!call.device().failed()) set_results(call, results);
  };
}

}  // namespace hlosim
