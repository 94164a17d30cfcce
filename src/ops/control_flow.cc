// Calls, loops, fusions and ordering.
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {

// ── add-dependency ──────────────────────────────────────────────
const OpDef kAddDependencyOp = {.name = "add-dependency", .arity = exactly(2), .traits = kFree,
                                .xla_cost = xla_cost_nothing};

// ── after-all ───────────────────────────────────────────────────
const OpDef kAfterAllOp = {.name = "after-all", .arity = at_least(0), .traits = kFree,
                           .xla_cost = xla_cost_nothing};

// ── call ────────────────────────────────────────────────────────
constexpr AttrSpec kCallAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kIsComposite, AttrSyntax::kBool},
};
const OpDef kCallOp = {.name = "call", .arity = at_least(0), .traits = kCallsInline, .attrs = kCallAttrs,
                       .xla_cost = xla_cost_call};

// ── conditional ─────────────────────────────────────────────────
constexpr AttrSpec kConditionalAttrs[] = {
    {AttrKey::kTrueComputation, AttrSyntax::kComputation},
    {AttrKey::kFalseComputation, AttrSyntax::kComputation},
    {AttrKey::kBranchComputations, AttrSyntax::kComputations},
};
const OpDef kConditionalOp = {.name = "conditional", .arity = at_least(1), .traits = kCallsInline, .attrs = kConditionalAttrs,
                              .xla_cost = xla_cost_conditional};

// ── domain ──────────────────────────────────────────────────────
constexpr AttrSpec kDomainAttrs[] = {
    {AttrKey::kDomain, AttrSyntax::kBraces, true},
};
const OpDef kDomainOp = {.name = "domain", .arity = exactly(1), .traits = kFree, .attrs = kDomainAttrs,
                         .xla_cost = xla_cost_nothing};

// ── fusion ──────────────────────────────────────────────────────
constexpr AttrSpec kFusionAttrs[] = {
    {AttrKey::kCalls, AttrSyntax::kComputation, true},
    {AttrKey::kKind, AttrSyntax::kWord, true},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
};
const OpDef kFusionOp = {.name = "fusion", .arity = at_least(0), .traits = kFusion | kNeedsShape, .attrs = kFusionAttrs,
                         .xla_cost = xla_cost_fusion};

// ── opt-barrier ─────────────────────────────────────────────────
const OpDef kOptimizationBarrierOp = {.name = "opt-barrier", .arity = exactly(1), .traits = kFree};

// ── while ───────────────────────────────────────────────────────
constexpr AttrSpec kWhileAttrs[] = {
    {AttrKey::kCondition, AttrSyntax::kComputation, true},
    {AttrKey::kBody, AttrSyntax::kComputation, true},
};
const OpDef kWhileOp = {.name = "while", .arity = exactly(1), .traits = kCallsInline, .attrs = kWhileAttrs,
                        .xla_cost = xla_cost_while};

}  // namespace hlosim
