#include "evaluate/custom_calls/custom_call_evaluations.h"

#include <algorithm>
#include <cstring>

#include "evaluate/data_movement_evaluation.h"
#include "evaluate/evaluation_table.h"
#include "hlo/shifted_slices.h"
#include "ops/called_checks.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/require.h"

namespace hlosim {
bool holds_the_same(ShapeRef a, ShapeRef b) {
  a = without_buffer(a), b = without_buffer(b);
  if (!a->is_array() || !b->is_array()) return a->kind == b->kind;
  return a->element_type == b->element_type && same_dimensions(a, b);
}

const ComputationId* called_computation(const OpContext& op) {
  for (const AttrKey key : {AttrKey::kToApply, AttrKey::kCalledComputations})
    if (const Attr* attr = op.find(key); attr && !attr->computations().empty())
      return attr->computations().data();
  return nullptr;
}

namespace {

Evaluation refuse_shapes(EvaluateContext& op, std::string_view why) {
  std::string operands;
  for (int64_t i = 0; i < op.operand_count(); ++i) operands += (i ? ", " : "") + text_of(op.operand_shape(i));
  return op.unsupported(
      fmt::format("{} of ({}) gives {}: {}", custom_call_target(op), operands, text_of(op.shape()), why));
}

/// What the caller of the library says the target does.
Evaluation handled_call(const EvaluateContext& op, const CustomCallHandlers::Handler& handler) {
  return [context = op.of(op.instruction()), handler](Invocation& call) {
    std::vector<Array> operands, results;
    for (size_t i = 0; i < call.operand_count(); ++i) operands.push_back(call.operand(i));
    for (size_t i = 0; i < call.result_count(); ++i) results.push_back(call.make_result(i));
    const auto done = handler({context, operands, results, call.device()});
    if (!done) return call.fail(done.error());
    for (size_t i = 0; i < results.size(); ++i) call.set_result(std::move(results[i]), i);
  };
}

}  // namespace

void CustomCallHandlers::add(std::string target, Handler handler) {
  add({[target](const Instruction& call) { return custom_call_target(call) == target; },
       [handler](const EvaluateContext& op) { return handled_call(op, handler); }});
}

const CustomCallHandlers::Rule* CustomCallHandlers::find(const Instruction& custom_call) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->fits(custom_call)) return &*rule;
  return nullptr;
}

Evaluation evaluate_custom_call(EvaluateContext& op) {
  if (const auto* rule = op.custom_calls().find(op.instruction())) return rule->evaluate(op);
  const std::string_view target = custom_call_target(op);
  if (const EvaluationKind known = custom_call_evaluation(op); known != EvaluationKind::kNone)
    return evaluation_functions(known).evaluate(op);
  if (is_stated_attention(op)) return evaluate_attention_call(op);
  if (shifted_slices(op)) return evaluate_shifted_slices(op);
  return op.unsupported(
      fmt::format("what target \"{}\" computes is not known here; --kernel={}=MODULE and --custom-calls "
                  "define it, or CustomCallHandlers in a program that uses the library",
                  target, target));
}

// ── whatever hands its operands on ──────────────────────────────

Evaluation evaluate_identity_call(EvaluateContext& op) {
  const auto from = operand_leaves_of(op), to = leaves_of(op.shape());
  if (to.empty()) return [](Invocation&) {};
  if (!std::equal(from.begin(), from.end(), to.begin(), to.end(), holds_the_same))
    return refuse_shapes(op, "shards of what several devices hold, but this is run on one");
  return [](Invocation& call) {
    for (size_t i = 0; i < call.result_count(); ++i) call.set_result(call.take(i), i);
  };
}

/// Slices of one array that lie side by side are the array.
Evaluation evaluate_concat_bitcast(EvaluateContext& op) {
  const ShapeRef result = op.shape();
  int64_t along = 0, joined = 0;
  bool fits = result->is_array() && result->rank() > 0 && op.operand_count() > 0;
  for (int64_t i = 0; fits && i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    fits = operand->is_array() && operand->rank() == result->rank();
    for (int64_t d = 0; fits && i == 0 && d < result->rank(); ++d)
      if (operand->dim(d) != result->dim(d)) along = d;
    for (int64_t d = 0; fits && d < result->rank(); ++d)
      if (d != along) fits = operand->dim(d) == result->dim(d);
    if (fits) joined += operand->dim(along);
  }
  if (!fits || joined != result->dim(along)) return refuse_shapes(op, "not slices of it");
  return evaluate_joined(op, along);
}

Evaluation evaluate_called_computation(EvaluateContext& op) {
  const ComputationId* called = called_computation(op);
  if (!called)
    return op.unsupported(fmt::format("{} calls no computation that defines it", custom_call_target(op)));
  std::vector<ShapeRef> parameters;
  for (int64_t i = 0; i < parameter_count(op, *called); ++i)
    for_each_leaf(parameter_shape(op, *called, i), [&](ShapeRef leaf) { parameters.push_back(leaf); });
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape()),
             root = leaves_of(result_of(op, *called));
  if (!std::equal(operands.begin(), operands.end(), parameters.begin(), parameters.end(), holds_the_same) ||
      !std::equal(results.begin(), results.end(), root.begin(), root.end(), holds_the_same))
    return refuse_shapes(op, "not the shapes of the called computation");
  return [callable = op.callable(*called)](Invocation& call) {
    std::vector<Array> arguments(call.operand_count()), values(call.result_count());
    for (size_t i = 0; i < arguments.size(); ++i) arguments[i] = call.take(i);
    callable->call(call.device(), arguments, values);
    if (call.device().failed()) return;
    for (size_t i = 0; i < values.size(); ++i) call.set_result(std::move(values[i]), i);
  };
}

// ── buffers and the device ──────────────────────────────────────

Evaluation evaluate_zeros_call(EvaluateContext& op) {
  std::vector<int64_t> bytes;
  for (const ShapeRef leaf : leaves_of(op.shape()))
    bytes.push_back(without_buffer(leaf)->is_array() ? data_bytes(without_buffer(leaf)) : 0);
  return [bytes](Invocation& call) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      Array& result = call.result(i);
      result.data = call.device().pool().allocate(bytes[i]);
      if (bytes[i] > 0) std::memset(result.bytes(), 0, static_cast<size_t>(bytes[i]));
    }
  };
}

Evaluation evaluate_rng_seed(EvaluateContext&) {
  return [](Invocation& call) { *call.out<uint64_t>() = call.device().rng_state[0]; };
}

// ── runtime sizes ───────────────────────────────────────────────

Evaluation evaluate_pad_to_static(EvaluateContext& op) {
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  if (operands.size() != 1 || !operands[0]->is_array() || results.empty() ||
      !holds_the_same(operands[0], results[0]) ||
      static_cast<int64_t>(results.size()) != operands[0]->rank() + 1 ||
      !std::all_of(results.begin() + 1, results.end(), [](ShapeRef size) {
        return size->is_scalar() && size->element_type == ElementType::kS32;
      }))
    return op.unsupported();
  return [](Invocation& call) {
    for (size_t i = 1; i < call.result_count(); ++i)
      *call.out<int32_t>(i) = static_cast<int32_t>(call.operand(0).size(static_cast<int64_t>(i) - 1));
    Array data = call.take(0);
    data.sizes = nullptr;
    call.set_result(std::move(data));
  };
}

Evaluation evaluate_slice_to_dynamic(EvaluateContext& op) {
  const auto operands = operand_leaves_of(op);
  const ShapeRef result = op.shape();
  if (operands.empty() || !result->is_array() || !holds_the_same(operands[0], result) ||
      static_cast<int64_t>(operands.size()) != result->rank() + 1 ||
      !std::all_of(operands.begin() + 1, operands.end(),
                   [](ShapeRef size) { return size->is_scalar() && is_integer(size->element_type); }))
    return op.unsupported();
  return [result](Invocation& call) {
    std::vector<int64_t> sizes;
    bool differ = false;
    for (int64_t i = 0; i < result->rank(); ++i) {
      sizes.push_back(integer_at(call.operand(static_cast<size_t>(i) + 1), 0));
      if (sizes.back() < 0 || sizes.back() > result->dim(i))
        return call.fail(fmt::format("SliceToDynamic to size {} of dimension {}, expected 0 to {}",
                                     sizes.back(), i, result->dim(i)));
      differ = differ || sizes.back() != result->dim(i);
    }
    Array data = call.take(0);
    data.sizes = differ ? std::make_shared<const std::vector<int64_t>>(std::move(sizes)) : nullptr;
    call.set_result(std::move(data));
  };
}

}  // namespace hlosim
