// Calls to named targets outside HLO.
#include "hlo/frontend.h"
#include "hlo/op_def.h"
#include "ops/called_checks.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/op_table.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// ── custom-call ─────────────────────────────────────────────────
// C1: operand_layout_constraints: one shape per operand, compatible with it.
// C2: the aliases name existing parts of equal shapes; Pin and Unpin join a buffer and its array.
// C3: none; XLA lets to_apply and called_computations run on any thread.
// C4: GetRngSeed takes nothing and gives a u64[].
// C5: at most one of to_apply and called_computations.
void check_syntax(OpContext& op) {
  if (op.has(AttrKey::kToApply) && op.has(AttrKey::kCalledComputations)) {
    op.error(5, "has both to_apply and called_computations, expected one of them");
    return;
  }
  const Attr* constraints = op.find(AttrKey::kOperandLayoutConstraints);
  if (!constraints) return;
  if (static_cast<int64_t>(constraints->shapes().size()) != op.operand_count()) {
    op.error(1, "expected {} operand layout constraints, {} given", op.operand_count(),
             constraints->shapes().size());
    return;
  }
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef constraint = constraints->shapes()[static_cast<size_t>(i)];
    if (compatible(constraint, op.operand_shape(i))) continue;
    op.error(1, "operand layout constraint {}, {}, is not compatible with the operand's shape {}", i,
             text_of(constraint), text_of(op.operand_shape(i)));
    return;
  }
}

ShapeRef infer(OpContext& op) { return op.shape(); }

void check(OpContext& op) {
  const std::string_view target = custom_call_target(op);
  const bool pins = target == "Pin" || target == "Unpin";
  const bool any = frontend_attribute(op.instruction(), "xla_skip_custom_call_alias_shape_check").has_value();
  const AliasShapes shapes = any    ? AliasShapes::kAny
                             : pins ? AliasShapes::kEqualButForBuffers
                                    : AliasShapes::kEqual;
  if (!require_aliases(op, 2, shapes)) return;
  if (target != "GetRngSeed") return;
  if (op.operand_count() != 0)
    op.error(4, "GetRngSeed takes no operands, but has {}", op.operand_count());
  else if (!op.shape()->is_scalar() || op.shape()->element_type != ElementType::kU64)
    op.error(4, "GetRngSeed gives a u64[], but the shape is {}", text_of(op.shape()));
}

constexpr AttrSpec kAttrs[] = {
    {AttrKey::kCustomCallTarget, AttrSyntax::kString, true},
    {AttrKey::kWindow, AttrSyntax::kWindow},
    {AttrKey::kDimLabels, AttrSyntax::kDimLabels},
    {AttrKey::kFeatureGroupCount, AttrSyntax::kInt},
    {AttrKey::kBatchGroupCount, AttrSyntax::kInt},
    {AttrKey::kOperandLayoutConstraints, AttrSyntax::kShapes},
    {AttrKey::kCustomCallHasSideEffect, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation},
    {AttrKey::kCalledComputations, AttrSyntax::kComputations},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
    {AttrKey::kPaddingType, AttrSyntax::kWord},
    {AttrKey::kLiteral, AttrSyntax::kLiteral},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kSchedule, AttrSyntax::kWord},
    {AttrKey::kApiVersion, AttrSyntax::kWord},
};

}  // namespace

const OpDef kCustomCallOp = {
    .name = "custom-call",
    .arity = at_least(0),
    .traits = kNeedsShape | kExactTypes,
    .attrs = kAttrs,
    .check_syntax = check_syntax,
    .infer_shape = infer,
    .check = check,
    .xla_cost = xla_cost_custom_call,
    .work = custom_call_work,
    .evaluation = EvaluationKind::kCustomCall,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kEmbedded,
              InPlaceRule::kStated, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNotes,
              BufferRule::kCustomCall, NumberRule::kComputed, Identity::kNone, DimensionRule::kBySize}};

}  // namespace hlosim
