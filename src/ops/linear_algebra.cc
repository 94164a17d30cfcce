// Decompositions, solvers and transforms.
#include "hlo/op_def.h"
#include "ops/op_table.h"

namespace hlosim {

// ── cholesky ────────────────────────────────────────────────────
constexpr AttrSpec kCholeskyAttrs[] = {
    {AttrKey::kLower, AttrSyntax::kBool},
};
const OpDef kCholeskyOp = {.name = "cholesky", .arity = exactly(1), .attrs = kCholeskyAttrs};

// ── fft ─────────────────────────────────────────────────────────
constexpr AttrSpec kFftAttrs[] = {
    {AttrKey::kFftType, AttrSyntax::kWord, true},
    {AttrKey::kFftLength, AttrSyntax::kInts, true},
};
const OpDef kFftOp = {.name = "fft", .arity = exactly(1), .attrs = kFftAttrs};

// ── triangular-solve ────────────────────────────────────────────
constexpr AttrSpec kTriangularSolveAttrs[] = {
    {AttrKey::kLeftSide, AttrSyntax::kBool},
    {AttrKey::kLower, AttrSyntax::kBool},
    {AttrKey::kUnitDiagonal, AttrSyntax::kBool},
    {AttrKey::kTransposeA, AttrSyntax::kWord},
};
const OpDef kTriangularSolveOp = {.name = "triangular-solve", .arity = exactly(2), .attrs = kTriangularSolveAttrs};

}  // namespace hlosim
