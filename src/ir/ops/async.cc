// Generic async pairs and copies between memory spaces. What needs the whole chain of start, updates and
// done is checked in module_rules.cc.
#include "hlo/op_def.h"
#include "ops/called_checks.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// ── async-start, async-update, async-done ───────────────────────
// C1: start and update have the shape ((operands …), output, contexts …).
// C2: element {0} of it begins the parameters of the wrapped computation, element {1} its result.
// C3: start: one operand per element of {0}, of its shape.
// C4: done: the result is the wrapped computation's.
// C5: aliases of a start name parameters of the computation and parts of the shape, both alike; those of an
//     update join contexts, element {2}.
// The wrapped computation runs on async_execution_thread whatever it says itself, as in XLA's reader.
ShapeRef infer_declared(OpContext& op) { return op.shape(); }

void check_async_syntax(OpContext& op) {
  const ShapeRef shape = op.shape();
  if (!shape->is_tuple() || shape->elements.size() < 2 || !shape->elements[0]->is_tuple())
    op.error(1,
             "expects the shape to be in the form of ((operand shapes...), output shape, ...), but it is {}",
             text_of(shape));
}

std::string tuple_text(const OpContext& op, ComputationId called) {
  std::string text = "(";
  for (int64_t i = 0; i < parameter_count(op, called); ++i)
    text += (i ? ", " : "") + text_of(parameter_shape(op, called, i));
  return text + ")";
}

bool begins_parameters(const OpContext& op, ShapeRef part, ComputationId called) {
  if (static_cast<int64_t>(part->elements.size()) > parameter_count(op, called)) return false;
  for (size_t i = 0; i < part->elements.size(); ++i)
    if (!compatible(part->elements[i], parameter_shape(op, called, static_cast<int64_t>(i)))) return false;
  return true;
}

bool check_wrapped(OpContext& op, ComputationId called) {
  const ShapeRef shape = op.shape();
  if (!begins_parameters(op, shape->elements[0], called)) {
    op.error(2, "element {{0}} of the shape, {}, does not begin the parameters of {}, {}",
             text_of(shape->elements[0]), op.computation(called).name, tuple_text(op, called));
    return false;
  }
  if (!begins(shape->elements[1], result_of(op, called))) {
    op.error(2, "element {{1}} of the shape, {}, does not begin the result of {}, {}",
             text_of(shape->elements[1]), op.computation(called).name, text_of(result_of(op, called)));
    return false;
  }
  return true;
}

/// The part of ((parameters …), result, contexts …) that an alias names.
ShapeRef async_subshape(const OpContext& op, ComputationId called, std::span<const int64_t> index) {
  if (index.empty() || index[0] < 0) return nullptr;
  if (index[0] == 1) return subshape(result_of(op, called), index.subspan(1));
  if (index[0] != 0) return subshape(op.shape(), index);
  if (index.size() < 2 || index[1] < 0 || index[1] >= parameter_count(op, called)) return nullptr;
  return subshape(parameter_shape(op, called, index[1]), index.subspan(2));
}

void check_start_aliases(OpContext& op, ComputationId called) {
  const Attr* attr = op.find(AttrKey::kOutputToOperandAliasing);
  if (!attr) return;
  for (const Alias& alias : attr->aliases()) {
    const bool known = alias.parameter >= 0 && alias.parameter < parameter_count(op, called);
    const ShapeRef operand =
        known ? subshape(parameter_shape(op, called, alias.parameter), alias.parameter_index) : nullptr;
    const ShapeRef output = async_subshape(op, called, alias.output_index);
    if (!operand || !output)
      op.error(5, "output_to_operand_aliasing names {} that does not exist",
               operand ? "an output" : "an operand");
    else if (!compatible(without_buffer(operand), without_buffer(output)))
      op.error(5, "output_to_operand_aliasing joins {} and {}, expected the same shape", text_of(output),
               text_of(operand));
  }
}

void check_update_aliases(OpContext& op) {
  const Attr* attr = op.find(AttrKey::kOutputToOperandAliasing);
  if (!attr) return;
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter != 0 || alias.parameter_index.empty() || alias.parameter_index[0] != 2 ||
        alias.output_index.empty() || alias.output_index[0] != 2) {
      op.error(
          5,
          "output_to_operand_aliasing of an update can only join contexts, {{2}}, of operand 0 and result");
      return;
    }
    const ShapeRef operand = subshape(op.operand_shape(0), alias.parameter_index);
    const ShapeRef output = subshape(op.shape(), alias.output_index);
    if (!operand || !output)
      op.error(5, "output_to_operand_aliasing names {} that does not exist",
               operand ? "an output" : "an operand");
    else if (!compatible(without_buffer(operand), without_buffer(output)))
      op.error(5, "output_to_operand_aliasing joins {} and {}, expected the same shape", text_of(output),
               text_of(operand));
  }
}

void check_async_start(OpContext& op) {
  const ComputationId called = op.called(AttrKey::kCalls);
  if (!check_wrapped(op, called)) return;
  const auto operands = op.shape()->elements[0]->elements;
  if (static_cast<int64_t>(operands.size()) != op.operand_count()) {
    op.error(3, "expects {} operands by element {{0}} of its shape, but has {}", operands.size(),
             op.operand_count());
    return;
  }
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef expected = operands[static_cast<size_t>(i)];
    if (compatible(expected, op.operand_shape(i))) continue;
    op.error(3, "operand {} is {}, but element {{0,{}}} of the shape is {}", i, text_of(op.operand_shape(i)),
             i, text_of(expected));
    return;
  }
  check_start_aliases(op, called);
}

void check_async_update(OpContext& op) {
  if (op.has(AttrKey::kCalls)) {
    const ComputationId called = op.called(AttrKey::kCalls);
    if (!check_wrapped(op, called)) return;
  }
  check_update_aliases(op);
}

void check_async_done(OpContext& op) {
  if (!op.has(AttrKey::kCalls)) return;
  const ComputationId called = op.called(AttrKey::kCalls);
  if (!compatible(op.shape(), result_of(op, called)))
    op.error(4, "the result {} does not match that of {}, {}", text_of(op.shape()),
             op.computation(called).name, text_of(result_of(op, called)));
}

// The wrapped computation does the work.
void async_work(const OpContext&, Work& work) {
  work.operand_read.assign(work.operand_read.size(), nullptr);
  work.result_written = nullptr;
}

// ── copy-start, copy-done ───────────────────────────────────────
// copy-start C1: the result is (operand, operand, u32[]); layouts and memory spaces may differ.
// copy-done C1: the operand is a tuple of three, as copy-start makes them.
// copy-done C2: its first two elements have the same shape; the result is the first.
ShapeRef infer_copy_start(OpContext& op) {
  const ShapeRef elements[] = {op.operand_shape(0), op.operand_shape(0),
                               op.shapes().scalar(ElementType::kU32)};
  return op.shapes().tuple(elements);
}

ShapeRef infer_copy_done(OpContext& op) {
  const ShapeRef operand = op.operand_shape(0);
  if (!operand->is_tuple() || operand->elements.size() < 2)
    return op.error(1, "operand 0 is {}, expected the tuple (destination, source, u32[]) of a copy-start",
                    text_of(operand));
  if (!compatible(operand->elements[0], operand->elements[1]))
    return op.error(2, "source {} and destination {} differ", text_of(operand->elements[1]),
                    text_of(operand->elements[0]));
  return operand->elements[0];
}

// A DMA from the operand's memory space to that of the result's first element.
void copy_start_work(const OpContext& op, Work& work) {
  if (op.shape()->is_tuple() && !op.shape()->elements.empty()) work.result_written = op.shape()->elements[0];
}

constexpr AttrSpec kAsyncDoneAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kCalls, AttrSyntax::kComputation},
};
constexpr AttrSpec kAsyncStartAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
    {AttrKey::kCalls, AttrSyntax::kComputation, true},
};
constexpr AttrSpec kAsyncUpdateAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
    {AttrKey::kCalls, AttrSyntax::kComputation},
};
constexpr AttrSpec kCopyStartAttrs[] = {
    {AttrKey::kCrossProgramPrefetchIndex, AttrSyntax::kInt},
};

}  // namespace

const OpDef kAsyncDoneOp = {
    .name = "async-done",
    .arity = exactly(1),
    .traits = kAsyncDone | kFree | kNeedsShape,
    .attrs = kAsyncDoneAttrs,
    .infer_shape = infer_declared,
    .check = check_async_done,
    .forward = forward_async_done,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kAsyncDone, UseRule::kAll,
              CallRule::kControlFlow, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute,
              AsyncPart::kChain, BufferRule::kHandsOn, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kForwards}};
const OpDef kAsyncStartOp = {
    .name = "async-start",
    .arity = at_least(0),
    .traits = kAsyncStart | kNeedsShape,
    .attrs = kAsyncStartAttrs,
    .check_syntax = check_async_syntax,
    .infer_shape = infer_declared,
    .check = check_async_start,
    .xla_cost = xla_cost_call,
    .work = async_work,
    .forward = forward_async_start,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kAsyncStart, UseRule::kAll,
              CallRule::kControlFlow, InPlaceRule::kStated, OverwriteRule::kNever, AsyncKind::kCompute,
              AsyncPart::kChain, BufferRule::kHandsOn, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kForwards}};
const OpDef kAsyncUpdateOp = {
    .name = "async-update",
    .arity = at_least(1),
    .traits = kAsyncUpdate | kFree | kNeedsShape,
    .attrs = kAsyncUpdateAttrs,
    .check_syntax = check_async_syntax,
    .infer_shape = infer_declared,
    .check = check_async_update,
    .forward = forward_async_update,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kAsyncUpdate, UseRule::kAll,
              CallRule::kControlFlow, InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute,
              AsyncPart::kChain, BufferRule::kHandsOn, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kForwards}};
const OpDef kCopyDoneOp = {
    .name = "copy-done",
    .arity = exactly(1),
    .traits = kAsyncDone | kFree | kNeedsShape | kExactTypes,
    .infer_shape = infer_copy_done,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kCopyDone, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCopy, AsyncPart::kDone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kForwards}};
const OpDef kCopyStartOp = {
    .name = "copy-start",
    .arity = exactly(1),
    .traits = kAsyncStart | kNeedsShape | kCopyStart | kExactTypes,
    .attrs = kCopyStartAttrs,
    .infer_shape = infer_copy_start,
    .work = copy_start_work,
    .forward = forward_copy_start,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kCopyStart, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCopy, AsyncPart::kStart,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kForwards}};

}  // namespace hlosim
