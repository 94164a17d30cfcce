// Matrix products and convolutions: the work of the MXU.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── dot ─────────────────────────────────────────────────────────
constexpr AttrSpec kDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kAlgorithm, AttrSyntax::kWord},
};
const OpDef kDotOp = {.name = "dot", .arity = exactly(2), .attrs = kDotAttrs};

// ── ragged-dot ──────────────────────────────────────────────────
constexpr AttrSpec kRaggedDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kLhsRaggedDims, AttrSyntax::kInts},
    {AttrKey::kRhsGroupDims, AttrSyntax::kInts},
};
const OpDef kRaggedDotOp = {.name = "ragged-dot", .arity = exactly(3), .attrs = kRaggedDotAttrs};

// ── scaled-dot ──────────────────────────────────────────────────
constexpr AttrSpec kScaledDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kAlgorithm, AttrSyntax::kWord},
};
const OpDef kScaledDotOp = {.name = "scaled-dot", .arity = exactly(4), .attrs = kScaledDotAttrs};

// ── convolution ─────────────────────────────────────────────────
constexpr AttrSpec kConvolutionAttrs[] = {
    {AttrKey::kWindow, AttrSyntax::kWindow},
    {AttrKey::kDimLabels, AttrSyntax::kDimLabels, true},
    {AttrKey::kFeatureGroupCount, AttrSyntax::kInt},
    {AttrKey::kBatchGroupCount, AttrSyntax::kInt},
    {AttrKey::kConvolutionKind, AttrSyntax::kWord},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kAlgorithm, AttrSyntax::kWord},
    {AttrKey::kSparsityConfig, AttrSyntax::kBraces},
};
const OpDef kConvolutionOp = {.name = "convolution", .arity = at_least(2), .attrs = kConvolutionAttrs};

}  // namespace hlosim
