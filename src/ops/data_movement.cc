// Operations that only rearrange elements.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── bitcast ─────────────────────────────────────────────────────
const OpDef kBitcastOp = {.name = "bitcast", .arity = exactly(1), .traits = kFree | kNeedsShape};

// ── bitcast-convert ─────────────────────────────────────────────
const OpDef kBitcastConvertOp = {.name = "bitcast-convert", .arity = exactly(1), .traits = kNeedsShape};

// ── broadcast ───────────────────────────────────────────────────
constexpr AttrSpec kBroadcastAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts},
};
const OpDef kBroadcastOp = {.name = "broadcast", .arity = exactly(1), .attrs = kBroadcastAttrs};

// ── concatenate ─────────────────────────────────────────────────
constexpr AttrSpec kConcatenateAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kConcatenateOp = {.name = "concatenate", .arity = at_least(0), .attrs = kConcatenateAttrs};

// ── copy ────────────────────────────────────────────────────────
const OpDef kCopyOp = {.name = "copy", .arity = exactly(1), .traits = kElementwise | kNoAsyncSugar};

// ── dynamic-reshape ─────────────────────────────────────────────
const OpDef kDynamicReshapeOp = {.name = "dynamic-reshape", .arity = at_least(1), .traits = kNeedsShape};

// ── dynamic-slice ───────────────────────────────────────────────
constexpr AttrSpec kDynamicSliceAttrs[] = {
    {AttrKey::kDynamicSliceSizes, AttrSyntax::kInts, true},
};
const OpDef kDynamicSliceOp = {.name = "dynamic-slice", .arity = at_least(1), .traits = kNeedsShape, .attrs = kDynamicSliceAttrs};

// ── dynamic-update-slice ────────────────────────────────────────
const OpDef kDynamicUpdateSliceOp = {.name = "dynamic-update-slice", .arity = at_least(0), .traits = kNeedsShape};

// ── get-dimension-size ──────────────────────────────────────────
constexpr AttrSpec kGetDimensionSizeAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kGetDimensionSizeOp = {.name = "get-dimension-size", .arity = exactly(1), .attrs = kGetDimensionSizeAttrs};

// ── pad ─────────────────────────────────────────────────────────
constexpr AttrSpec kPadAttrs[] = {
    {AttrKey::kPadding, AttrSyntax::kPadding, true},
};
const OpDef kPadOp = {.name = "pad", .arity = exactly(2), .attrs = kPadAttrs};

// ── reshape ─────────────────────────────────────────────────────
constexpr AttrSpec kReshapeAttrs[] = {
    {AttrKey::kInferredDimension, AttrSyntax::kInt},
};
const OpDef kReshapeOp = {.name = "reshape", .arity = exactly(1), .traits = kNeedsShape, .attrs = kReshapeAttrs};

// ── reverse ─────────────────────────────────────────────────────
constexpr AttrSpec kReverseAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts, true},
};
const OpDef kReverseOp = {.name = "reverse", .arity = exactly(1), .attrs = kReverseAttrs};

// ── set-dimension-size ──────────────────────────────────────────
constexpr AttrSpec kSetDimensionSizeAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kSetDimensionSizeOp = {.name = "set-dimension-size", .arity = exactly(2), .attrs = kSetDimensionSizeAttrs};

// ── slice ───────────────────────────────────────────────────────
constexpr AttrSpec kSliceAttrs[] = {
    {AttrKey::kSlice, AttrSyntax::kSlices, true},
};
const OpDef kSliceOp = {.name = "slice", .arity = exactly(1), .traits = kNeedsShape, .attrs = kSliceAttrs};

// ── transpose ───────────────────────────────────────────────────
constexpr AttrSpec kTransposeAttrs[] = {
    {AttrKey::kDimensions, AttrSyntax::kInts, true},
};
const OpDef kTransposeOp = {.name = "transpose", .arity = exactly(1), .attrs = kTransposeAttrs};

}  // namespace hlosim
