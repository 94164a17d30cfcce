// Operations in which several devices take part.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── all-gather ──────────────────────────────────────────────────
constexpr AttrSpec kAllGatherAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
    {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kAllGatherOp = {.name = "all-gather", .arity = at_least(0), .traits = kCollective | kNeedsShape | kNoAsyncSugar, .attrs = kAllGatherAttrs};

// ── all-gather-done ─────────────────────────────────────────────
const OpDef kAllGatherDoneOp = {.name = "all-gather-done", .arity = exactly(1), .traits = kAsyncDone | kCollective | kFree | kNeedsShape};

// ── all-gather-start ────────────────────────────────────────────
constexpr AttrSpec kAllGatherStartAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
    {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kAllGatherStartOp = {.name = "all-gather-start", .arity = at_least(0), .traits = kAsyncStart | kCollective | kNeedsShape, .attrs = kAllGatherStartAttrs};

// ── all-reduce ──────────────────────────────────────────────────
constexpr AttrSpec kAllReduceAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
    {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kMode, AttrSyntax::kWord},
};
const OpDef kAllReduceOp = {.name = "all-reduce", .arity = at_least(0), .traits = kCollective | kNeedsShape | kNoAsyncSugar, .attrs = kAllReduceAttrs};

// ── all-reduce-done ─────────────────────────────────────────────
const OpDef kAllReduceDoneOp = {.name = "all-reduce-done", .arity = exactly(1), .traits = kAsyncDone | kCollective | kFree | kNeedsShape};

// ── all-reduce-start ────────────────────────────────────────────
constexpr AttrSpec kAllReduceStartAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
    {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kMode, AttrSyntax::kWord},
};
const OpDef kAllReduceStartOp = {.name = "all-reduce-start", .arity = at_least(0), .traits = kAsyncStart | kCollective | kNeedsShape, .attrs = kAllReduceStartAttrs};

// ── all-to-all ──────────────────────────────────────────────────
constexpr AttrSpec kAllToAllAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kDimensions, AttrSyntax::kInts1},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
};
const OpDef kAllToAllOp = {.name = "all-to-all", .arity = at_least(0), .traits = kCollective | kNeedsShape, .attrs = kAllToAllAttrs};

// ── collective-broadcast ────────────────────────────────────────
constexpr AttrSpec kCollectiveBroadcastAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kHasDynamicRoot, AttrSyntax::kBool},
};
const OpDef kCollectiveBroadcastOp = {.name = "collective-broadcast", .arity = at_least(0), .traits = kCollective | kNeedsShape, .attrs = kCollectiveBroadcastAttrs};

// ── collective-permute ──────────────────────────────────────────
constexpr AttrSpec kCollectivePermuteAttrs[] = {
    {AttrKey::kSourceTargetPairs, AttrSyntax::kPairs, true},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kSliceSizes, AttrSyntax::kIntLists},
};
const OpDef kCollectivePermuteOp = {.name = "collective-permute", .arity = at_least(0), .traits = kCollective | kNeedsShape | kNoAsyncSugar, .attrs = kCollectivePermuteAttrs};

// ── collective-permute-done ─────────────────────────────────────
const OpDef kCollectivePermuteDoneOp = {.name = "collective-permute-done", .arity = exactly(1), .traits = kAsyncDone | kCollective | kFree | kNeedsShape};

// ── collective-permute-start ────────────────────────────────────
constexpr AttrSpec kCollectivePermuteStartAttrs[] = {
    {AttrKey::kSourceTargetPairs, AttrSyntax::kPairs, true},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kSliceSizes, AttrSyntax::kIntLists},
};
const OpDef kCollectivePermuteStartOp = {.name = "collective-permute-start", .arity = at_least(0), .traits = kAsyncStart | kCollective | kNeedsShape, .attrs = kCollectivePermuteStartAttrs};

// ── ragged-all-to-all ───────────────────────────────────────────
constexpr AttrSpec kRaggedAllToAllAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kDimensions, AttrSyntax::kInts1},
};
const OpDef kRaggedAllToAllOp = {.name = "ragged-all-to-all", .arity = exactly(6), .traits = kCollective | kNeedsShape, .attrs = kRaggedAllToAllAttrs};

// ── reduce-scatter ──────────────────────────────────────────────
constexpr AttrSpec kReduceScatterAttrs[] = {
    {AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups},
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kConstrainLayout, AttrSyntax::kBool},
    {AttrKey::kUseGlobalDeviceIds, AttrSyntax::kBool},
    {AttrKey::kToApply, AttrSyntax::kComputation, true},
    {AttrKey::kMode, AttrSyntax::kWord},
    {AttrKey::kDimensions, AttrSyntax::kInts1, true},
};
const OpDef kReduceScatterOp = {.name = "reduce-scatter", .arity = at_least(0), .traits = kCollective | kNeedsShape, .attrs = kReduceScatterAttrs};

}  // namespace hlosim
