// Traffic with the host and with other programs.
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {

// ── infeed ──────────────────────────────────────────────────────
constexpr AttrSpec kInfeedAttrs[] = {
    {AttrKey::kInfeedConfig, AttrSyntax::kString},
};
const OpDef kInfeedOp = {.name = "infeed", .arity = exactly(1), .traits = kSideEffect | kNeedsShape | kHostTransfer, .attrs = kInfeedAttrs,
                         .xla_cost = xla_cost_infeed};

// ── outfeed ─────────────────────────────────────────────────────
constexpr AttrSpec kOutfeedAttrs[] = {
    {AttrKey::kOutfeedConfig, AttrSyntax::kString},
    {AttrKey::kOutfeedShape, AttrSyntax::kShape},
};
const OpDef kOutfeedOp = {.name = "outfeed", .arity = exactly(2), .traits = kSideEffect | kNeedsShape | kHostTransfer, .attrs = kOutfeedAttrs,
                          .xla_cost = xla_cost_outfeed};

// ── recv ────────────────────────────────────────────────────────
constexpr AttrSpec kRecvAttrs[] = {
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kIsHostTransfer, AttrSyntax::kBool},
};
const OpDef kRecvOp = {.name = "recv", .arity = exactly(1), .traits = kAsyncStart | kSideEffect | kNeedsShape | kNoAsyncSugar | kHostTransfer, .attrs = kRecvAttrs};

// ── recv-done ───────────────────────────────────────────────────
constexpr AttrSpec kRecvDoneAttrs[] = {
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kIsHostTransfer, AttrSyntax::kBool},
};
const OpDef kRecvDoneOp = {.name = "recv-done", .arity = exactly(1), .traits = kAsyncDone | kSideEffect | kFree | kNeedsShape | kHostTransfer, .attrs = kRecvDoneAttrs};

// ── send ────────────────────────────────────────────────────────
constexpr AttrSpec kSendAttrs[] = {
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kIsHostTransfer, AttrSyntax::kBool},
};
const OpDef kSendOp = {.name = "send", .arity = exactly(2), .traits = kAsyncStart | kSideEffect | kNeedsShape | kNoAsyncSugar | kHostTransfer, .attrs = kSendAttrs};

// ── send-done ───────────────────────────────────────────────────
constexpr AttrSpec kSendDoneAttrs[] = {
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kIsHostTransfer, AttrSyntax::kBool},
};
const OpDef kSendDoneOp = {.name = "send-done", .arity = exactly(1), .traits = kAsyncDone | kSideEffect | kFree | kNeedsShape | kHostTransfer, .attrs = kSendDoneAttrs};

}  // namespace hlosim
