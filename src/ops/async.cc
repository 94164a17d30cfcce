// Generic async pairs and copies between memory spaces.
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {

// ── async-done ──────────────────────────────────────────────────
constexpr AttrSpec kAsyncDoneAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kCalls, AttrSyntax::kComputation},
};
const OpDef kAsyncDoneOp = {.name = "async-done", .arity = exactly(1), .traits = kAsyncDone | kFree | kNeedsShape, .attrs = kAsyncDoneAttrs};

// ── async-start ─────────────────────────────────────────────────
constexpr AttrSpec kAsyncStartAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
    {AttrKey::kCalls, AttrSyntax::kComputation, true},
};
const OpDef kAsyncStartOp = {.name = "async-start", .arity = at_least(0), .traits = kAsyncStart | kNeedsShape, .attrs = kAsyncStartAttrs,
                             .xla_cost = xla_cost_call};

// ── async-update ────────────────────────────────────────────────
constexpr AttrSpec kAsyncUpdateAttrs[] = {
    {AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
    {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases},
    {AttrKey::kCalls, AttrSyntax::kComputation},
};
const OpDef kAsyncUpdateOp = {.name = "async-update", .arity = at_least(1), .traits = kAsyncUpdate | kFree | kNeedsShape, .attrs = kAsyncUpdateAttrs};

// ── copy-done ───────────────────────────────────────────────────
const OpDef kCopyDoneOp = {.name = "copy-done", .arity = exactly(1), .traits = kAsyncDone | kFree | kNeedsShape};

// ── copy-start ──────────────────────────────────────────────────
constexpr AttrSpec kCopyStartAttrs[] = {
    {AttrKey::kCrossProgramPrefetchIndex, AttrSyntax::kInt},
};
const OpDef kCopyStartOp = {.name = "copy-start", .arity = exactly(1), .traits = kAsyncStart | kNeedsShape | kCopyStart, .attrs = kCopyStartAttrs};

}  // namespace hlosim
