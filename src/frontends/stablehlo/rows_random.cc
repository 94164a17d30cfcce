// Random numbers and linear algebra.
#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {
namespace {

void lower_rng(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const mlir::Attribute* distribution = op.need("rng_distribution");
  if (!distribution) return;
  const InstructionId a = op.operand(0), b = op.operand(1);
  ShapeRef result = op.result();
  if (op.failed()) return;
  if (!result)
    if (const auto sizes = op.lowering().known(op.operand(2))) result = op.shapes().array(op.type(a), *sizes);
  if (!result) result = op.static_result();
  const std::string_view word = distribution->text == "NORMAL" ? "rng_normal" : "rng_uniform";
  op.give(op.make(Opcode::kRng, {a, b}, {op.word(AttrKey::kDistribution, word)}, result));
}

void lower_rng_bit_generator(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const mlir::Attribute* algorithm = op.need("rng_algorithm");
  if (!algorithm) return;
  const std::string_view word = algorithm->text == "THREE_FRY" ? "rng_three_fry"
                                : algorithm->text == "PHILOX"  ? "rng_philox"
                                                               : "rng_default";
  op.give_elements(op.make(Opcode::kRngBitGenerator, {op.operand(0)}, {op.word(AttrKey::kAlgorithm, word)},
                           op.whole_result()));
}

void lower_cholesky(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  op.give(op.make(Opcode::kCholesky, {op.operand(0)}, {Attr::make_bool(AttrKey::kLower, op.flag("lower"))},
                  op.result()));
}

void lower_triangular_solve(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const mlir::Attribute* transpose = op.find("transpose_a");
  const Attr attrs[] = {
      Attr::make_bool(AttrKey::kLeftSide, op.flag("left_side")),
      Attr::make_bool(AttrKey::kLower, op.flag("lower")),
      Attr::make_bool(AttrKey::kUnitDiagonal, op.flag("unit_diagonal")),
      op.word(AttrKey::kTransposeA, transpose ? transpose->text : std::string_view("NO_TRANSPOSE"))};
  const Values operands = op.operands();
  op.give(op.make(Opcode::kTriangularSolve, operands, attrs, op.result()));
}

void lower_fft(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const mlir::Attribute* type = op.need("fft_type");
  if (!type) return;
  op.give(op.make(Opcode::kFft, {op.operand(0)},
                  {op.word(AttrKey::kFftType, type->text), op.ints(AttrKey::kFftLength, "fft_length")},
                  op.result()));
}

/// Training gives mean and variance too, the gradient those of scale and offset.
void lower_batch_norm(OpLowering& op, Opcode opcode) {
  const mlir::Attribute* epsilon = op.need("epsilon");
  const int64_t feature = op.integer("feature_index");
  if (op.failed()) return;
  const Attr attrs[] = {op.word(AttrKey::kEpsilon, fmt::format("{}", static_cast<float>(epsilon->number))),
                        Attr::make_int(AttrKey::kFeatureIndex, feature)};
  const Values operands = op.operands();
  op.give_elements(op.make(opcode, operands, attrs));
}

constexpr Row kRandom[] = {
    {"stablehlo.rng", lower_rng},
    {"stablehlo.rng_bit_generator", lower_rng_bit_generator},
};
constexpr Row kLinearAlgebra[] = {
    {"stablehlo.batch_norm_grad", lower_batch_norm},
    {"stablehlo.batch_norm_inference", lower_batch_norm},
    {"stablehlo.batch_norm_training", lower_batch_norm},
    {"stablehlo.cholesky", lower_cholesky},
    {"stablehlo.fft", lower_fft},
    {"stablehlo.triangular_solve", lower_triangular_solve},
};

}  // namespace

std::span<const Row> random_rows() { return kRandom; }
std::span<const Row> linear_algebra_rows() { return kLinearAlgebra; }

}  // namespace hlosim::stablehlo
