// Decompositions, solvers and transforms.
#include <algorithm>

#include "base/saturating.h"
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

// The operand is an array of floats or complex numbers, of at least two dimensions, the last two of the
// same size; these are constraints 1, 2 and 3.
bool require_square(OpContext& op, int64_t operand) {
  if (!require_array(op, 1, operand)) return false;
  const ShapeRef shape = op.operand_shape(operand);
  if (!is_float(shape->element_type) && !is_complex(shape->element_type)) {
    op.error(2, "operand {} has shape {}, expected a floating-point or complex type", operand,
             text_of(shape));
    return false;
  }
  const int64_t rank = shape->rank();
  if (rank >= 2 && sizes_agree(shape->dim(rank - 2), shape->dim(rank - 1))) return true;
  op.error(3, "operand {} has shape {}, expected at least two dimensions, the last two of the same size",
           operand, text_of(shape));
  return false;
}

// C1: the operand is an array.
// C2: of floats or complex numbers.
// C3: of at least two dimensions, the last two of the same size.
ShapeRef infer_cholesky(OpContext& op) { return require_square(op, 0) ? op.operand_shape(0) : nullptr; }

// C1, C2, C3: as cholesky, for the first operand, the matrix a; the second, b, is an array, too.
// C4: b has the element type of a.
// C5: and as many dimensions.
// C6: and the same batch dimensions.
// C7: the equations fit: the second last dimension of b (with left_side, else its last) is that of a.
// C8: transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT.
ShapeRef infer_triangular_solve(OpContext& op) {
  if (!require_square(op, 0) || !require_array(op, 1, 1)) return nullptr;
  const ShapeRef a = op.operand_shape(0), b = op.operand_shape(1);
  const int64_t rank = a->rank();
  if (a->element_type != b->element_type)
    return op.error(4, "a is {}, b {}, expected the same element type", text_of(a), text_of(b));
  if (b->rank() != rank)
    return op.error(5, "a is {}, b {}, expected the same number of dimensions", text_of(a), text_of(b));
  for (int64_t i = 0; i < rank - 2; ++i)
    if (!sizes_agree(a->dim(i), b->dim(i)))
      return op.error(6, "a is {}, b {}, expected the same size of dimension {}", text_of(a), text_of(b), i);
  const int64_t shared = rank - (op.flag(AttrKey::kLeftSide) ? 2 : 1);
  if (!sizes_agree(a->dim(rank - 1), b->dim(shared)))
    return op.error(7, "a is {}, b {}, expected {} elements in dimension {} of b", text_of(a), text_of(b),
                    size_text(a->dim(rank - 1)), shared);
  if (op.text(AttrKey::kTransposeA) == "TRANSPOSE_INVALID")
    return op.error(8, "transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  return b;
}

// C1: the operand is an array.
// C2: FFT, IFFT and IRFFT take complex numbers, RFFT takes f32 or f64.
// C3: fft_length has 1 to 3 entries, none negative.
// C4: the operand has at least as many dimensions.
// C5: RFFT and IRFFT: the last dimensions are those lengths, but the last one of IRFFT's complex operand,
//     which is length / 2 + 1.
ShapeRef infer_fft(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  const ShapeRef operand = op.operand_shape(0);
  const std::string_view kind = op.text(AttrKey::kFftType);
  const ElementType type = operand->element_type;
  const bool from_real = kind == "RFFT", to_real = kind == "IRFFT";
  if (from_real ? type != ElementType::kF32 && type != ElementType::kF64 : !is_complex(type))
    return op.error(2, "{} of {}, expected element type {}", kind, text_of(operand),
                    from_real ? "f32 or f64" : "c64 or c128");
  const Dimensions length = op.ints(AttrKey::kFftLength);
  const auto count = static_cast<int64_t>(length.size());
  if (count < 1 || count > 3) return op.error(3, "fft_length has {} entries, expected 1 to 3", count);
  for (const int64_t entry : length)
    if (entry < 0) return op.error(3, "fft_length is {}, expected no negative entry", list_text(length));
  if (operand->rank() < count)
    return op.error(4, "operand {} has {} dimensions, expected at least {}", text_of(operand),
                    operand->rank(), count);
  if (!from_real && !to_real) return operand;
  DimensionList dimensions;
  dimensions.add_all(operand);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(operand->rank() - count + i);
    const int64_t full = length[static_cast<size_t>(i)], size = dimensions[at];
    const bool last = i == count - 1;
    const int64_t half = full / 2 + 1;
    // Nothing is transformed into nothing, not into one element.
    const int64_t expected = last && to_real && (size != 0 || full != 0) ? half : full;
    if (!sizes_agree(size, expected))
      return op.error(5, "dimension {} of {} has {} elements, expected {} for fft_length {}", at,
                      text_of(operand), size_text(size), expected, list_text(length));
    if (last) dimensions[at] = to_real ? full : full != 0 ? half : 0;
  }
  if (to_real) return dimensions.array(op, type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64);
  return dimensions.array(op, type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128);
}

// ── work ────────────────────────────────────────────────────────

int64_t batch_of(ShapeRef matrices) {
  int64_t batch = 1;
  for (int64_t i = 0; i < matrices->rank() - 2; ++i) batch = saturating_multiply(batch, matrices->dim(i));
  return batch;
}

/// Blocked algorithms put nearly all of their flops into matrix products: n³/3 of them for a
/// decomposition, n²·m for a solution, 2 flops each. Complex products are three real ones.
MatmulWork products(ShapeRef shape, int64_t m, int64_t n, int64_t k) {
  MatmulWork work;
  const ElementType type = shape->element_type;
  const ElementType part = !is_complex(type)           ? type
                           : type == ElementType::kC64 ? ElementType::kF32
                                                       : ElementType::kF64;
  work.batch = saturating_multiply(batch_of(shape), is_complex(type) ? 3 : 1);
  work.m = m, work.n = n, work.k = k;
  work.lhs = work.rhs = part;
  work.precision = MatmulPrecision::kHighest;
  return work;
}

void cholesky_work(const OpContext& op, Work& work) {
  const ShapeRef a = op.operand_shape(0);
  const int64_t n = a->dim(a->rank() - 1);
  // n³/3 multiply-adds are a sixth of a product's; half of the blocks lie above the diagonal.
  work.matmuls.push_back(products(a, n, n, n / 6 + (n % 6 != 0)));
  work.vectors.push_back({VectorOp::kTranscendental, a, 1});  // roots and reciprocals along the diagonal
}

void triangular_solve_work(const OpContext& op, Work& work) {
  const ShapeRef a = op.operand_shape(0), b = op.operand_shape(1);
  const int64_t n = a->dim(a->rank() - 1);
  const int64_t m = b->dim(b->rank() - (op.flag(AttrKey::kLeftSide) ? 1 : 2));
  work.matmuls.push_back(products(b, m, n, n / 2 + n % 2));
  work.vectors.push_back({VectorOp::kDivide, b, 1});
}

/// 5·log2(n) real operations per complex element and transformed dimension, half per component, and a
/// shuffle per stage.
void fft_work(const OpContext& op, Work& work) {
  const ShapeRef complex = is_complex(op.shape()->element_type) ? op.shape() : op.operand_shape(0);
  double stages = 0;
  for (const int64_t length : op.ints(AttrKey::kFftLength))
    for (int64_t n = length; n > 1; n = n / 2 + n % 2) ++stages;
  work.vectors.push_back({VectorOp::kSimple, complex, 2.5 * stages});
  work.vectors.push_back({VectorOp::kCrossLane, complex, stages});
}

constexpr AttrSpec kCholeskyAttrs[] = {{AttrKey::kLower, AttrSyntax::kBool}};
constexpr AttrSpec kFftAttrs[] = {
    {AttrKey::kFftType, AttrSyntax::kWord, true},
    {AttrKey::kFftLength, AttrSyntax::kInts, true},
};
constexpr AttrSpec kTriangularSolveAttrs[] = {
    {AttrKey::kLeftSide, AttrSyntax::kBool},
    {AttrKey::kLower, AttrSyntax::kBool},
    {AttrKey::kUnitDiagonal, AttrSyntax::kBool},
    {AttrKey::kTransposeA, AttrSyntax::kWord},
};

}  // namespace

constexpr OpDef kCholeskyOp = {
    .name = "cholesky",
    .arity = exactly(1),
    .attrs = kCholeskyAttrs,
    .infer_shape = infer_cholesky,
    .xla_cost = xla_cost_cholesky,
    .work = cholesky_work,
    .evaluation = EvaluationKind::kCholesky,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kSquare}};
constexpr OpDef kFftOp = {
    .name = "fft",
    .arity = exactly(1),
    .attrs = kFftAttrs,
    .infer_shape = infer_fft,
    .xla_cost = xla_cost_fft,
    .work = fft_work,
    .evaluation = EvaluationKind::kFft,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kSquare}};
constexpr OpDef kTriangularSolveOp = {
    .name = "triangular-solve",
    .arity = exactly(2),
    .attrs = kTriangularSolveAttrs,
    .infer_shape = infer_triangular_solve,
    .xla_cost = xla_cost_triangular_solve,
    .work = triangular_solve_work,
    .evaluation = EvaluationKind::kTriangularSolve,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kSecond, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kSquare}};

}  // namespace hlosim
