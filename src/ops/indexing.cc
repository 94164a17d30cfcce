// Access through indices, and ordering.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── gather ──────────────────────────────────────────────────────
constexpr AttrSpec kGatherAttrs[] = {
    {AttrKey::kOffsetDims, AttrSyntax::kInts, true},
    {AttrKey::kCollapsedSliceDims, AttrSyntax::kInts, true},
    {AttrKey::kStartIndexMap, AttrSyntax::kInts, true},
    {AttrKey::kIndexVectorDim, AttrSyntax::kInt, true},
    {AttrKey::kSliceSizes, AttrSyntax::kInts, true},
    {AttrKey::kIndicesAreSorted, AttrSyntax::kBool},
    {AttrKey::kOperandBatchingDims, AttrSyntax::kInts},
    {AttrKey::kStartIndicesBatchingDims, AttrSyntax::kInts},
};
const OpDef kGatherOp = {.name = "gather", .arity = exactly(2), .attrs = kGatherAttrs};

// ── scatter ─────────────────────────────────────────────────────
constexpr AttrSpec kScatterAttrs[] = {
    {AttrKey::kUpdateWindowDims, AttrSyntax::kInts, true},
    {AttrKey::kInsertedWindowDims, AttrSyntax::kInts, true},
    {AttrKey::kScatterDimsToOperandDims, AttrSyntax::kInts, true},
    {AttrKey::kIndexVectorDim, AttrSyntax::kInt, true},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kIndicesAreSorted, AttrSyntax::kBool},
    {AttrKey::kUniqueIndices, AttrSyntax::kBool},
    {AttrKey::kInputBatchingDims, AttrSyntax::kInts},
    {AttrKey::kScatterIndicesBatchingDims, AttrSyntax::kInts},
};
const OpDef kScatterOp = {.name = "scatter", .arity = at_least(1), .attrs = kScatterAttrs};

// ── sort ────────────────────────────────────────────────────────
constexpr AttrSpec kSortAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
    {AttrKey::kIsStable, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
};
const OpDef kSortOp = {.name = "sort", .arity = at_least(0), .attrs = kSortAttrs};

// ── topk ────────────────────────────────────────────────────────
constexpr AttrSpec kTopKAttrs[] = {
    {AttrKey::kK, AttrSyntax::kInt, true},
    {AttrKey::kLargest, AttrSyntax::kBool},
    {AttrKey::kIsStable, AttrSyntax::kBool},
};
const OpDef kTopKOp = {.name = "topk", .arity = exactly(1), .attrs = kTopKAttrs};

}  // namespace hlosim
