// Calls, loops, fusions and ordering.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "base/bracketed_text.h"
#include "base/text.h"
#include "hlo/frontend.h"
#include "hlo/op_def.h"
#include "ops/called_checks.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// ── ordering ────────────────────────────────────────────────────
// add-dependency C1: operand 1 is a token.
ShapeRef infer_add_dependency(OpContext& op) { return op.operand_shape(0); }
void check_add_dependency(OpContext& op) {
  if (!op.operand_shape(1)->is_token())
    op.error(1, "operand 1 is {}, expected a token", text_of(op.operand_shape(1)));
}
ShapeRef infer_after_all(OpContext& op) { return op.shapes().token(); }

// domain C1: {kind="sharding", entry=sharding, exit=sharding}, in any order.
void check_domain_syntax(OpContext& op) {
  const std::string text = without_comments(op.text(AttrKey::kDomain));
  constexpr std::string_view kKeys[] = {"kind=", "entry=", "exit="};
  int found[std::size(kKeys)] = {};
  for (std::string_view part :
       split_outside_brackets(std::string_view(text).substr(1, text.size() - 2), ",")) {
    const std::string_view whole = part;
    const auto key = std::ranges::find_if(kKeys, [&](std::string_view k) { return take_word(part, k); });
    const bool known = key != std::end(kKeys) && ++found[key - kKeys] == 1;
    part = trimmed(part);
    if (!known || (key == kKeys && part != "\"sharding\"" && part != "'sharding'")) {
      op.error(1, "domain has {}, expected kind=\"sharding\", entry={{…}} and exit={{…}}, each once", whole);
      return;
    }
  }
  for (size_t i = 0; i < std::size(kKeys); ++i)
    if (found[i] == 0) op.error(1, "domain has no {}", kKeys[i].substr(0, kKeys[i].size() - 1));
}

/// domain keeps what it says: XLA does not compare it with its operand.
ShapeRef infer_domain(OpContext& op) { return op.shape() ? op.shape() : op.operand_shape(0); }
ShapeRef infer_opt_barrier(OpContext& op) { return op.operand_shape(0); }

// ── call ────────────────────────────────────────────────────────
// C1: as many operands as the computation has parameters, of their shapes; the result is its root's.
// C2: nothing of a call aliases: it may have no output_to_operand_aliasing.
// C3: a composite call has the frontend attribute composite.name, not empty.
// C4: composite.attributes, where given, is not empty; composite.version is a number that is not negative.
ShapeRef infer_call(OpContext& op) { return result_of(op, op.called()); }

void check_composite(OpContext& op) {
  const auto name = frontend_attribute(op.instruction(), "composite.name");
  if (!name || name->empty()) {
    op.error(3, "a composite call needs a frontend attribute composite.name that is not empty");
    return;
  }
  const auto attributes = frontend_attribute(op.instruction(), "composite.attributes");
  if (attributes && attributes->empty()) op.error(4, "composite.attributes is empty, expected {{}} or more");
  const auto version = frontend_attribute(op.instruction(), "composite.version");
  if (!version) return;
  std::string_view digits = trimmed(*version);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
    op.error(4, "composite.version is \"{}\", expected a number that is not negative", *version);
}

void check_call(OpContext& op) {
  if (!require_parameters(op, 1, op.called(), 0, op.operand_count())) return;
  if (const Attr* aliases = op.find(AttrKey::kOutputToOperandAliasing);
      aliases && !aliases->aliases().empty()) {
    op.error(2, "has output_to_operand_aliasing, which a call may not have");
    return;
  }
  if (op.flag(AttrKey::kIsComposite)) check_composite(op);
}

// ── while ───────────────────────────────────────────────────────
// C1: condition and body take one parameter of the operand's shape.
// C2: the condition's result is pred[]; the result is that of the body.
// C3: both run on the caller's thread.
// C4: the shardings of the loop, its body's parameter and root and its condition's parameter agree.
ShapeRef infer_while(OpContext& op) { return result_of(op, op.called(AttrKey::kBody)); }

void check_while(OpContext& op) {
  const ComputationId body = op.called(AttrKey::kBody), condition = op.called(AttrKey::kCondition);
  if (!require_parameters(op, 1, body, 0, 1) || !require_parameters(op, 1, condition, 0, 1)) return;
  const ShapeRef result = result_of(op, condition);
  if (!result->is_scalar() || result->element_type != ElementType::kPred) {
    op.error(2, "the condition's result is {}, expected pred[]", text_of(result));
    return;
  }
  if (!require_same_thread(op, AttrKey::kBody) || !require_same_thread(op, AttrKey::kCondition)) return;
  const InstructionId related[] = {op.computation(body).parameters[0], op.computation(body).root,
                                   op.computation(condition).parameters[0]};
  require_one_sharding(op, 4, related);
}

// ── conditional ─────────────────────────────────────────────────
// C1: operand 0 is a scalar pred with true_ and false_computation, or a scalar s32 with branch_computations.
// C2: one more operand per branch; each branch takes it as its one parameter.
// C3: all branches have the result's shape.
// C4: the branches run on the caller's thread.
// C5: the shardings of the conditional and of its branches' roots agree.
void check_conditional_syntax(OpContext& op) {
  const ShapeRef selector = op.operand_shape(0);
  const bool is_pred = selector->is_array() && selector->element_type == ElementType::kPred;
  if (!selector->is_scalar() || !(is_pred || selector->element_type == ElementType::kS32)) {
    op.error(1, "operand 0 must be a scalar of type pred or s32, but is {}", text_of(selector));
    return;
  }
  const AttrKey wrong = is_pred ? AttrKey::kBranchComputations : AttrKey::kTrueComputation;
  if (op.has(wrong) || (!is_pred && op.has(AttrKey::kFalseComputation))) {
    op.error(1, "unexpected attribute \"{}\" where operand 0 is {}",
             to_text(op.has(wrong) ? wrong : AttrKey::kFalseComputation), text_of(selector));
    return;
  }
  for (const AttrKey key : {AttrKey::kTrueComputation, AttrKey::kFalseComputation})
    if (is_pred && !op.has(key)) {
      op.error(1, "attribute {} is expected but not seen", to_text(key));
      return;
    }
  if (!is_pred && !op.has(AttrKey::kBranchComputations)) {
    op.error(1, "attribute branch_computations is expected but not seen");
    return;
  }
  int64_t branches = 0;
  for_each_called(op.instruction(), [&](ComputationId) { ++branches; });
  if (branches == 0)
    op.error(1, "expects at least one branch");
  else if (op.operand_count() != branches + 1)
    op.error(2, "expects {} operands for {} branches, but has {}", branches + 1, branches,
             op.operand_count());
}

ShapeRef infer_conditional(OpContext& op) {
  if (const Attr* branches = op.find(AttrKey::kBranchComputations))
    return branches->computations().empty() ? op.error(1, "expects at least one branch")
                                            : result_of(op, branches->computations()[0]);
  if (!op.has(AttrKey::kTrueComputation))
    return op.error(1, "attribute true_computation is expected but not seen");
  return result_of(op, op.called(AttrKey::kTrueComputation));
}

void check_conditional(OpContext& op) {
  int64_t operand = 0;
  std::vector<InstructionId> roots;
  for (const ComputationId branch : branches_in(op)) {
    ++operand;
    if (op.failed() || !require_parameters(op, 2, branch, operand, 1)) return;
    if (!compatible(result_of(op, branch), op.shape())) {
      op.error(3, "expected the result of branch {}, {}, to be {}", op.computation(branch).name,
               text_of(result_of(op, branch)), text_of(op.shape()));
      return;
    }
    if (op.computation(branch).execution_thread != op.computation(op.instruction().parent).execution_thread) {
      op.error(4, "branch {} runs on thread \"{}\", its caller on \"{}\"", op.computation(branch).name,
               op.computation(branch).execution_thread,
               op.computation(op.instruction().parent).execution_thread);
      return;
    }
    roots.push_back(op.computation(branch).root);
  }
  require_one_sharding(op, 5, roots);
}

// ── fusion ──────────────────────────────────────────────────────
// C1: the result has the shape of the fused computation's root.
// C2: as many parameters as operands or fewer, of their shapes.
// C3: the aliases name existing parts of equal shapes.
// C4: the fused computation runs on the caller's thread.
// C5: in the fused computation nothing uses the root, and everything else is used or has a side effect.
ShapeRef infer_fusion(OpContext& op) { return result_of(op, op.called(AttrKey::kCalls)); }

void check_fusion(OpContext& op) {
  const ComputationId fused = op.called(AttrKey::kCalls);
  if (parameter_count(op, fused) > op.operand_count()) {
    op.error(2, "the fused computation {} takes {} parameters, but there are {} operands",
             op.computation(fused).name, parameter_count(op, fused), op.operand_count());
    return;
  }
  if (!require_parameters(op, 2, fused, 0, parameter_count(op, fused))) return;
  if (!require_aliases(op, 3, AliasShapes::kEqual)) return;
  require_same_thread(op, AttrKey::kCalls);
}

// ── work ────────────────────────────────────────────────────────

/// The called computations do the work; the call itself hands over references.
void no_traffic(const OpContext&, Work& work) {
  work.operand_read.assign(work.operand_read.size(), nullptr);
  work.result_written = nullptr;
}

constexpr AttrSpec kCallAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kIsComposite, AttrSyntax::kBool},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
};
constexpr AttrSpec kConditionalAttrs[] = {
    {AttrKey::kTrueComputation, AttrSyntax::kComputation},
    {AttrKey::kFalseComputation, AttrSyntax::kComputation},
    {AttrKey::kBranchComputations, AttrSyntax::kComputations},
};
constexpr AttrSpec kDomainAttrs[] = {
    {AttrKey::kDomain, AttrSyntax::kBraces, true},
};
constexpr AttrSpec kFusionAttrs[] = {
    {AttrKey::kCalls, AttrSyntax::kComputation, true},
    {AttrKey::kKind, AttrSyntax::kWord, true},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
};
constexpr AttrSpec kWhileAttrs[] = {
    {AttrKey::kCondition, AttrSyntax::kComputation, true},
    {AttrKey::kBody, AttrSyntax::kComputation, true},
};

}  // namespace

const OpDef kAddDependencyOp = {
    .name = "add-dependency",
    .arity = exactly(2),
    .traits = kFree | kDerivedShape,
    .infer_shape = infer_add_dependency,
    .check = check_add_dependency,
    .xla_cost = xla_cost_nothing,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kForwards, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kSame, Identity::kNone, DimensionRule::kForwards}};
const OpDef kAfterAllOp = {
    .name = "after-all",
    .arity = at_least(0),
    .traits = kFree | kDerivedShape,
    .infer_shape = infer_after_all,
    .xla_cost = xla_cost_nothing,
    .forward = forward_nothing,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
const OpDef kCallOp = {.name = "call",
                       .arity = at_least(0),
                       .traits = kCallsInline | kExactTypes,
                       .attrs = kCallAttrs,
                       .infer_shape = infer_call,
                       .check = check_call,
                       .xla_cost = xla_cost_call,
                       .work = no_traffic,
                       .evaluation = EvaluationKind::kCall,
                       .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kCall, UseRule::kAll,
                                 CallRule::kControlFlow, InPlaceRule::kNone, OverwriteRule::kNever,
                                 AsyncKind::kCompute, AsyncPart::kEnters, BufferRule::kCall,
                                 NumberRule::kCalled, Identity::kNone, DimensionRule::kCalled}};
const OpDef kConditionalOp = {
    .name = "conditional",
    .arity = at_least(1),
    .traits = kCallsInline | kExactTypes,
    .attrs = kConditionalAttrs,
    .check_syntax = check_conditional_syntax,
    .infer_shape = infer_conditional,
    .check = check_conditional,
    .xla_cost = xla_cost_conditional,
    .work = no_traffic,
    .evaluation = EvaluationKind::kConditional,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kConditional, UseRule::kAll,
              CallRule::kControlFlow, InPlaceRule::kNone, OverwriteRule::kBodies, AsyncKind::kCompute,
              AsyncPart::kEnters, BufferRule::kForbiddenWrites, NumberRule::kComputed, Identity::kNone,
              DimensionRule::kCalled}};
const OpDef kDomainOp = {
    .name = "domain",
    .arity = exactly(1),
    .traits = kFree,
    .attrs = kDomainAttrs,
    .check_syntax = check_domain_syntax,
    .infer_shape = infer_domain,
    .xla_cost = xla_cost_nothing,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kForwards, UseRule::kNone, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kBounds,
              BufferRule::kForbidden, NumberRule::kSame, Identity::kNone, DimensionRule::kForwards}};
const OpDef kFusionOp = {
    .name = "fusion",
    .arity = at_least(0),
    .traits = kFusion | kNeedsShape | kExactTypes,
    .attrs = kFusionAttrs,
    .infer_shape = infer_fusion,
    .check = check_fusion,
    .xla_cost = xla_cost_fusion,
    .evaluation = EvaluationKind::kCall,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kEmbedded, InPlaceRule::kFused, OverwriteRule::kFused, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbiddenWrites, NumberRule::kCalled, Identity::kNone,
              DimensionRule::kCalled}};
const OpDef kOptimizationBarrierOp = {
    .name = "opt-barrier",
    .arity = exactly(1),
    .traits = kFree | kExactTypes,
    .infer_shape = infer_opt_barrier,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kForwards, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kPasses,
              BufferRule::kForbidden, NumberRule::kSame, Identity::kNone, DimensionRule::kForwards}};
const OpDef kWhileOp = {.name = "while",
                        .arity = exactly(1),
                        .traits = kCallsInline | kExactTypes,
                        .attrs = kWhileAttrs,
                        .infer_shape = infer_while,
                        .check = check_while,
                        .xla_cost = xla_cost_while,
                        .work = no_traffic,
                        .evaluation = EvaluationKind::kWhile,
                        .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kLoop, UseRule::kAll,
                                  CallRule::kControlFlow, InPlaceRule::kNone, OverwriteRule::kBodies,
                                  AsyncKind::kCompute, AsyncPart::kEnters, BufferRule::kLoop,
                                  NumberRule::kComputed, Identity::kNone, DimensionRule::kCalled}};

}  // namespace hlosim
