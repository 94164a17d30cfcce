// Operations that compute element i of the result from element i of each operand.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── abs ─────────────────────────────────────────────────────────
const OpDef kAbsOp = {.name = "abs", .arity = exactly(1), .traits = kElementwise};

// ── acos ────────────────────────────────────────────────────────
constexpr AttrSpec kAcosAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kAcosOp = {.name = "acos", .arity = exactly(1), .traits = kElementwise, .attrs = kAcosAttrs};

// ── acosh ───────────────────────────────────────────────────────
constexpr AttrSpec kAcoshAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kAcoshOp = {.name = "acosh", .arity = exactly(1), .traits = kElementwise, .attrs = kAcoshAttrs};

// ── add ─────────────────────────────────────────────────────────
const OpDef kAddOp = {.name = "add", .arity = exactly(2), .traits = kElementwise};

// ── and ─────────────────────────────────────────────────────────
const OpDef kAndOp = {.name = "and", .arity = exactly(2), .traits = kElementwise};

// ── asin ────────────────────────────────────────────────────────
constexpr AttrSpec kAsinAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kAsinOp = {.name = "asin", .arity = exactly(1), .traits = kElementwise, .attrs = kAsinAttrs};

// ── asinh ───────────────────────────────────────────────────────
constexpr AttrSpec kAsinhAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kAsinhOp = {.name = "asinh", .arity = exactly(1), .traits = kElementwise, .attrs = kAsinhAttrs};

// ── atan2 ───────────────────────────────────────────────────────
const OpDef kAtan2Op = {.name = "atan2", .arity = exactly(2), .traits = kElementwise};

// ── atanh ───────────────────────────────────────────────────────
constexpr AttrSpec kAtanhAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kAtanhOp = {.name = "atanh", .arity = exactly(1), .traits = kElementwise, .attrs = kAtanhAttrs};

// ── cbrt ────────────────────────────────────────────────────────
constexpr AttrSpec kCbrtAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kCbrtOp = {.name = "cbrt", .arity = exactly(1), .traits = kElementwise, .attrs = kCbrtAttrs};

// ── ceil ────────────────────────────────────────────────────────
const OpDef kCeilOp = {.name = "ceil", .arity = exactly(1), .traits = kElementwise};

// ── clamp ───────────────────────────────────────────────────────
const OpDef kClampOp = {.name = "clamp", .arity = exactly(3), .traits = kElementwise};

// ── count-leading-zeros ─────────────────────────────────────────
const OpDef kClzOp = {.name = "count-leading-zeros", .arity = exactly(1), .traits = kElementwise};

// ── compare ─────────────────────────────────────────────────────
constexpr AttrSpec kCompareAttrs[] = {
    {AttrKey::kDirection, AttrSyntax::kWord, true},
    {AttrKey::kType, AttrSyntax::kWord},
};
const OpDef kCompareOp = {.name = "compare", .arity = exactly(2), .traits = kElementwise, .attrs = kCompareAttrs};

// ── complex ─────────────────────────────────────────────────────
const OpDef kComplexOp = {.name = "complex", .arity = exactly(2), .traits = kElementwise};

// ── convert ─────────────────────────────────────────────────────
const OpDef kConvertOp = {.name = "convert", .arity = exactly(1), .traits = kElementwise | kNeedsShape};

// ── cosine ──────────────────────────────────────────────────────
constexpr AttrSpec kCosAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kCosOp = {.name = "cosine", .arity = exactly(1), .traits = kElementwise, .attrs = kCosAttrs};

// ── cosh ────────────────────────────────────────────────────────
constexpr AttrSpec kCoshAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kCoshOp = {.name = "cosh", .arity = exactly(1), .traits = kElementwise, .attrs = kCoshAttrs};

// ── divide ──────────────────────────────────────────────────────
const OpDef kDivideOp = {.name = "divide", .arity = exactly(2), .traits = kElementwise};

// ── erf ─────────────────────────────────────────────────────────
constexpr AttrSpec kErfAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kErfOp = {.name = "erf", .arity = exactly(1), .traits = kElementwise, .attrs = kErfAttrs};

// ── exponential ─────────────────────────────────────────────────
constexpr AttrSpec kExpAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kExpOp = {.name = "exponential", .arity = exactly(1), .traits = kElementwise, .attrs = kExpAttrs};

// ── exponential-minus-one ───────────────────────────────────────
constexpr AttrSpec kExpm1Attrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kExpm1Op = {.name = "exponential-minus-one", .arity = exactly(1), .traits = kElementwise, .attrs = kExpm1Attrs};

// ── floor ───────────────────────────────────────────────────────
const OpDef kFloorOp = {.name = "floor", .arity = exactly(1), .traits = kElementwise};

// ── imag ────────────────────────────────────────────────────────
const OpDef kImagOp = {.name = "imag", .arity = exactly(1), .traits = kElementwise};

// ── is-finite ───────────────────────────────────────────────────
const OpDef kIsFiniteOp = {.name = "is-finite", .arity = exactly(1), .traits = kElementwise};

// ── log ─────────────────────────────────────────────────────────
constexpr AttrSpec kLogAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kLogOp = {.name = "log", .arity = exactly(1), .traits = kElementwise, .attrs = kLogAttrs};

// ── log-plus-one ────────────────────────────────────────────────
constexpr AttrSpec kLog1pAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kLog1pOp = {.name = "log-plus-one", .arity = exactly(1), .traits = kElementwise, .attrs = kLog1pAttrs};

// ── logistic ────────────────────────────────────────────────────
constexpr AttrSpec kLogisticAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kLogisticOp = {.name = "logistic", .arity = exactly(1), .traits = kElementwise, .attrs = kLogisticAttrs};

// ── maximum ─────────────────────────────────────────────────────
const OpDef kMaximumOp = {.name = "maximum", .arity = exactly(2), .traits = kElementwise};

// ── minimum ─────────────────────────────────────────────────────
const OpDef kMinimumOp = {.name = "minimum", .arity = exactly(2), .traits = kElementwise};

// ── mulhi ───────────────────────────────────────────────────────
const OpDef kMulhiOp = {.name = "mulhi", .arity = exactly(2), .traits = kElementwise};

// ── multiply ────────────────────────────────────────────────────
const OpDef kMultiplyOp = {.name = "multiply", .arity = exactly(2), .traits = kElementwise};

// ── negate ──────────────────────────────────────────────────────
const OpDef kNegateOp = {.name = "negate", .arity = exactly(1), .traits = kElementwise};

// ── not ─────────────────────────────────────────────────────────
const OpDef kNotOp = {.name = "not", .arity = exactly(1), .traits = kElementwise};

// ── or ──────────────────────────────────────────────────────────
const OpDef kOrOp = {.name = "or", .arity = exactly(2), .traits = kElementwise};

// ── popcnt ──────────────────────────────────────────────────────
const OpDef kPopulationCountOp = {.name = "popcnt", .arity = exactly(1), .traits = kElementwise};

// ── power ───────────────────────────────────────────────────────
const OpDef kPowerOp = {.name = "power", .arity = exactly(2), .traits = kElementwise};

// ── real ────────────────────────────────────────────────────────
const OpDef kRealOp = {.name = "real", .arity = exactly(1), .traits = kElementwise};

// ── reduce-precision ────────────────────────────────────────────
constexpr AttrSpec kReducePrecisionAttrs[] = {
    {AttrKey::kExponentBits, AttrSyntax::kInt, true},
    {AttrKey::kMantissaBits, AttrSyntax::kInt, true},
};
const OpDef kReducePrecisionOp = {.name = "reduce-precision", .arity = exactly(1), .traits = kElementwise | kNeedsShape, .attrs = kReducePrecisionAttrs};

// ── remainder ───────────────────────────────────────────────────
const OpDef kRemainderOp = {.name = "remainder", .arity = exactly(2), .traits = kElementwise};

// ── round-nearest-afz ───────────────────────────────────────────
const OpDef kRoundNearestAfzOp = {.name = "round-nearest-afz", .arity = exactly(1), .traits = kElementwise};

// ── round-nearest-even ──────────────────────────────────────────
const OpDef kRoundNearestEvenOp = {.name = "round-nearest-even", .arity = exactly(1), .traits = kElementwise};

// ── rsqrt ───────────────────────────────────────────────────────
constexpr AttrSpec kRsqrtAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kRsqrtOp = {.name = "rsqrt", .arity = exactly(1), .traits = kElementwise, .attrs = kRsqrtAttrs};

// ── select ──────────────────────────────────────────────────────
const OpDef kSelectOp = {.name = "select", .arity = exactly(3), .traits = kElementwise};

// ── shift-left ──────────────────────────────────────────────────
const OpDef kShiftLeftOp = {.name = "shift-left", .arity = exactly(2), .traits = kElementwise};

// ── shift-right-arithmetic ──────────────────────────────────────
const OpDef kShiftRightArithmeticOp = {.name = "shift-right-arithmetic", .arity = exactly(2), .traits = kElementwise};

// ── shift-right-logical ─────────────────────────────────────────
const OpDef kShiftRightLogicalOp = {.name = "shift-right-logical", .arity = exactly(2), .traits = kElementwise};

// ── sign ────────────────────────────────────────────────────────
const OpDef kSignOp = {.name = "sign", .arity = exactly(1), .traits = kElementwise};

// ── sine ────────────────────────────────────────────────────────
constexpr AttrSpec kSinAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kSinOp = {.name = "sine", .arity = exactly(1), .traits = kElementwise, .attrs = kSinAttrs};

// ── sinh ────────────────────────────────────────────────────────
constexpr AttrSpec kSinhAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kSinhOp = {.name = "sinh", .arity = exactly(1), .traits = kElementwise, .attrs = kSinhAttrs};

// ── sqrt ────────────────────────────────────────────────────────
constexpr AttrSpec kSqrtAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kSqrtOp = {.name = "sqrt", .arity = exactly(1), .traits = kElementwise, .attrs = kSqrtAttrs};

// ── stochastic-convert ──────────────────────────────────────────
const OpDef kStochasticConvertOp = {.name = "stochastic-convert", .arity = exactly(2), .traits = kElementwise | kNeedsShape};

// ── subtract ────────────────────────────────────────────────────
const OpDef kSubtractOp = {.name = "subtract", .arity = exactly(2), .traits = kElementwise};

// ── tan ─────────────────────────────────────────────────────────
constexpr AttrSpec kTanAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kTanOp = {.name = "tan", .arity = exactly(1), .traits = kElementwise, .attrs = kTanAttrs};

// ── tanh ────────────────────────────────────────────────────────
constexpr AttrSpec kTanhAttrs[] = {
    {AttrKey::kResultAccuracy, AttrSyntax::kAccuracy},
};
const OpDef kTanhOp = {.name = "tanh", .arity = exactly(1), .traits = kElementwise, .attrs = kTanhAttrs};

// ── xor ─────────────────────────────────────────────────────────
const OpDef kXorOp = {.name = "xor", .arity = exactly(2), .traits = kElementwise};

}  // namespace hlosim
