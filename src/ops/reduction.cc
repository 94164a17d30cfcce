// Operations that apply a computation over dimensions or windows.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── batch-norm-grad ─────────────────────────────────────────────
constexpr AttrSpec kBatchNormGradAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormGradOp = {.name = "batch-norm-grad", .arity = exactly(5), .attrs = kBatchNormGradAttrs};

// ── batch-norm-inference ────────────────────────────────────────
constexpr AttrSpec kBatchNormInferenceAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormInferenceOp = {.name = "batch-norm-inference", .arity = exactly(5), .attrs = kBatchNormInferenceAttrs};

// ── batch-norm-training ─────────────────────────────────────────
constexpr AttrSpec kBatchNormTrainingAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormTrainingOp = {.name = "batch-norm-training", .arity = exactly(3), .attrs = kBatchNormTrainingAttrs};

// ── map ─────────────────────────────────────────────────────────
constexpr AttrSpec kMapAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kDimensions, AttrSyntax::kInts},
};
const OpDef kMapOp = {.name = "map", .arity = at_least(0), .attrs = kMapAttrs};

// ── reduce ──────────────────────────────────────────────────────
constexpr AttrSpec kReduceAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kDimensions, AttrSyntax::kInts, true},
};
const OpDef kReduceOp = {.name = "reduce", .arity = at_least(1), .attrs = kReduceAttrs};

// ── reduce-window ───────────────────────────────────────────────
constexpr AttrSpec kReduceWindowAttrs[] = {
    {AttrKey::kWindow, AttrSyntax::kWindow},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
};
const OpDef kReduceWindowOp = {.name = "reduce-window", .arity = at_least(1), .attrs = kReduceWindowAttrs};

// ── scan ────────────────────────────────────────────────────────
constexpr AttrSpec kScanAttrs[] = {
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
    {AttrKey::kNumCarries, AttrSyntax::kInt, true},
    {AttrKey::kIsReverse, AttrSyntax::kBool},
    {AttrKey::kIsAssociative, AttrSyntax::kBool},
};
const OpDef kScanOp = {.name = "scan", .arity = at_least(0), .attrs = kScanAttrs};

// ── select-and-scatter ──────────────────────────────────────────
constexpr AttrSpec kSelectAndScatterAttrs[] = {
    {AttrKey::kSelect, AttrSyntax::kComputation, true},
    {AttrKey::kScatter, AttrSyntax::kComputation, true},
    {AttrKey::kWindow, AttrSyntax::kWindow},
};
const OpDef kSelectAndScatterOp = {.name = "select-and-scatter", .arity = exactly(3), .attrs = kSelectAndScatterAttrs};

}  // namespace hlosim
