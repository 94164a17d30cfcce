// Where values come from, tuples and random bits.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── constant ────────────────────────────────────────────────────
const OpDef kConstantOp = {.name = "constant", .arity = exactly(0), .traits = kFree | kNeedsShape};

// ── iota ────────────────────────────────────────────────────────
constexpr AttrSpec kIotaAttrs[] = {
    {AttrKey::kIotaDimension, AttrSyntax::kInt, true},
};
const OpDef kIotaOp = {.name = "iota", .arity = exactly(0), .traits = kNeedsShape, .attrs = kIotaAttrs};

// ── parameter ───────────────────────────────────────────────────
const OpDef kParameterOp = {.name = "parameter", .arity = exactly(0), .traits = kFree | kNeedsShape};

// ── partition-id ────────────────────────────────────────────────
const OpDef kPartitionIdOp = {.name = "partition-id", .arity = exactly(0), .traits = kFree};

// ── replica-id ──────────────────────────────────────────────────
const OpDef kReplicaIdOp = {.name = "replica-id", .arity = exactly(0), .traits = kFree};

// ── tuple ───────────────────────────────────────────────────────
const OpDef kTupleOp = {.name = "tuple", .arity = at_least(0), .traits = kFree};

// ── get-tuple-element ───────────────────────────────────────────
constexpr AttrSpec kGetTupleElementAttrs[] = {
    {AttrKey::kIndex, AttrSyntax::kInt, true},
};
const OpDef kGetTupleElementOp = {.name = "get-tuple-element", .arity = exactly(1), .traits = kFree, .attrs = kGetTupleElementAttrs};

// ── rng ─────────────────────────────────────────────────────────
constexpr AttrSpec kRngAttrs[] = {
    {AttrKey::kDistribution, AttrSyntax::kWord, true},
};
const OpDef kRngOp = {.name = "rng", .arity = at_least(0), .traits = kNeedsShape, .attrs = kRngAttrs};

// ── rng-bit-generator ───────────────────────────────────────────
constexpr AttrSpec kRngBitGeneratorAttrs[] = {
    {AttrKey::kAlgorithm, AttrSyntax::kWord, true},
};
const OpDef kRngBitGeneratorOp = {.name = "rng-bit-generator", .arity = exactly(1), .traits = kNeedsShape, .attrs = kRngBitGeneratorAttrs};

// ── rng-get-and-update-state ────────────────────────────────────
constexpr AttrSpec kRngGetAndUpdateStateAttrs[] = {
    {AttrKey::kDelta, AttrSyntax::kInt, true},
};
const OpDef kRngGetAndUpdateStateOp = {.name = "rng-get-and-update-state", .arity = exactly(0), .traits = kSideEffect | kNeedsShape, .attrs = kRngGetAndUpdateStateAttrs};

}  // namespace hlosim
