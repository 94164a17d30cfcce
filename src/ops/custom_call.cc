// Calls to named targets outside HLO.
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {

// ── custom-call ─────────────────────────────────────────────────
constexpr AttrSpec kCustomCallAttrs[] = {
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
const OpDef kCustomCallOp = {.name = "custom-call", .arity = at_least(0), .traits = kNeedsShape, .attrs = kCustomCallAttrs,
                             .xla_cost = xla_cost_custom_call};

}  // namespace hlosim
