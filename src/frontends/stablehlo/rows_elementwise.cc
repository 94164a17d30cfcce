// Operations on elements.
#include "stablehlo/expression.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

/// `#stablehlo.result_accuracy<…>`, where it asks for more than the default.
std::vector<Attr> accuracy_of(OpLowering& op) {
  const mlir::Attribute* accuracy = op.find("result_accuracy");
  if (!accuracy) return {};
  const mlir::Attribute* mode = accuracy->find("mode");
  const std::string_view word = mode ? mode->text : std::string_view();
  if (word.find("HIGHEST") != std::string_view::npos)
    return {op.word(AttrKey::kResultAccuracy, "{mode=highest}")};
  if (word.find("TOLERANCE") == std::string_view::npos) return {};
  const auto part = [&](std::string_view name) {
    const mlir::Attribute* value = accuracy->find(name);
    if (!value) return 0.0;
    return value->kind == mlir::AttributeKind::kFloat ? value->number : static_cast<double>(value->integer);
  };
  return {
      op.word(AttrKey::kResultAccuracy, fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", part("atol"),
                                                    part("rtol"), static_cast<int64_t>(part("ulps"))))};
}

void unary(OpLowering& op, Opcode opcode) {
  if (op.takes(1)) op.give(op.make(opcode, {op.operand(0)}, {}, op.result()));
}

/// Functions whose accuracy may be asked for.
void function(OpLowering& op, Opcode opcode) {
  if (!op.takes(1)) return;
  const Values operands = op.operands();
  op.give(op.make(opcode, operands, accuracy_of(op), op.result()));
}

void binary(OpLowering& op, Opcode opcode) {
  if (!op.takes(2)) return;
  // HLO has no add and multiply of two truth values by these names.
  const Values operands = op.operands();
  if (op.failed()) return;
  const bool pred = op.shape(operands[0])->is_array() && is_pred(op.type(operands[0]));
  if (pred && opcode == Opcode::kAdd) opcode = Opcode::kOr;
  if (pred && opcode == Opcode::kMultiply) opcode = Opcode::kAnd;
  op.give(op.make(opcode, operands, {}, op.result()));
}

/// Complex numbers are ordered by their real parts, then by their imaginary ones.
void lower_extreme(OpLowering& op, Opcode opcode) {
  if (!op.takes(2)) return;
  const Expression a(op, op.operand(0)), b(op, op.operand(1));
  if (op.failed()) return;
  if (!op.shape(a.id())->is_array() || !a.is_complex_number()) return binary(op, opcode);
  const Expression x = real(a), y = real(b);
  const bool least = opcode == Opcode::kMinimum;
  const Expression before = least ? x < y : x > y;
  const Expression then = least ? imag(a) < imag(b) : imag(a) > imag(b);
  op.give(select(before || ((x == y) && then), a, b).id());
}

void lower_convert(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  ShapeRef result = op.result();
  if (op.failed()) return;
  const mlir::Type& type = *op.mlir().results[0]->type;
  if (!result && (!type.element || !op.shape(operand)->is_array())) {
    op.fail("{} becomes {}, expected arrays", to_text_without_layout(op.shape(operand)), type_text(type));
    return;
  }
  if (!result)
    result = op.shapes().with_element_type(op.shape(operand),
                                           element_type_of(*op.mlir().results[0]->type->element));
  op.give(op.make(Opcode::kConvert, {operand}, {}, result));
}

void lower_compare(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const mlir::Attribute* direction = op.need("comparison_direction");
  if (!direction) return;
  std::vector<Attr> attrs = {op.word(AttrKey::kDirection, direction->text)};
  const Values operands = op.operands();
  if (op.failed()) return;
  // Integers are compared by their own sign, whatever the attribute says of them.
  const mlir::Attribute* type = op.find("compare_type");
  const bool fits = type && type->text != "NOTYPE" &&
                    (type->text != "UNSIGNED" || !is_signed_integer(op.type(operands[0]))) &&
                    (type->text != "SIGNED" || is_signed_integer(op.type(operands[0])));
  if (fits) attrs.push_back(op.word(AttrKey::kType, type->text));
  op.give(op.make(Opcode::kCompare, operands, attrs, op.result()));
}

/// A scalar among arrays stands for all elements.
InstructionId as_large_as(OpLowering& op, InstructionId value, InstructionId array) {
  if (op.failed() || !op.shape(value)->is_array() || op.rank(value) != 0) return value;
  return op.splat(value, op.shape(array));
}

void lower_select(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const InstructionId on_true = op.operand(1), on_false = op.operand(2);
  const InstructionId pred = as_large_as(op, op.operand(0), on_true);
  op.give(op.make(Opcode::kSelect, {pred, on_true, on_false}, {}, op.result()));
}

void lower_clamp(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const InstructionId operand = op.operand(1);
  const InstructionId low = as_large_as(op, op.operand(0), operand);
  const InstructionId high = as_large_as(op, op.operand(2), operand);
  op.give(op.make(Opcode::kClamp, {low, operand, high}, {}, op.result()));
}

void lower_reduce_precision(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const Attr exponent = Attr::make_int(AttrKey::kExponentBits, op.integer("exponent_bits"));
  const Attr mantissa = Attr::make_int(AttrKey::kMantissaBits, op.integer("mantissa_bits"));
  const InstructionId operand = op.operand(0);
  op.give(op.make(Opcode::kReducePrecision, {operand}, {exponent, mantissa}, op.shape(operand)));
}

constexpr Row kElementwiseRows[] = {
    {"stablehlo.abs", unary},
    {"stablehlo.add", binary},
    {"stablehlo.and", binary},
    {"stablehlo.atan2", binary},
    {"stablehlo.cbrt", function},
    {"stablehlo.ceil", unary},
    {"stablehlo.clamp", lower_clamp},
    {"stablehlo.compare", lower_compare},
    {"stablehlo.complex", binary},
    {"stablehlo.convert", lower_convert},
    {"stablehlo.cosine", function},
    {"stablehlo.count_leading_zeros", unary},
    {"stablehlo.divide", binary},
    {"stablehlo.exponential", function},
    {"stablehlo.exponential_minus_one", function},
    {"stablehlo.floor", unary},
    {"stablehlo.imag", unary},
    {"stablehlo.is_finite", unary},
    {"stablehlo.log", function},
    {"stablehlo.log_plus_one", function},
    {"stablehlo.logistic", function},
    {"stablehlo.maximum", lower_extreme},
    {"stablehlo.minimum", lower_extreme},
    {"stablehlo.multiply", binary},
    {"stablehlo.negate", unary},
    {"stablehlo.not", unary},
    {"stablehlo.or", binary},
    {"stablehlo.popcnt", unary},
    {"stablehlo.power", binary},
    {"stablehlo.real", unary},
    {"stablehlo.reduce_precision", lower_reduce_precision},
    {"stablehlo.remainder", binary},
    {"stablehlo.round_nearest_afz", unary},
    {"stablehlo.round_nearest_even", unary},
    {"stablehlo.rsqrt", function},
    {"stablehlo.select", lower_select},
    {"stablehlo.shift_left", binary},
    {"stablehlo.shift_right_arithmetic", binary},
    {"stablehlo.shift_right_logical", binary},
    {"stablehlo.sign", unary},
    {"stablehlo.sine", function},
    {"stablehlo.sqrt", function},
    {"stablehlo.subtract", binary},
    {"stablehlo.tan", function},
    {"stablehlo.tanh", function},
    {"stablehlo.xor", binary},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kElementwiseRows; }

}  // namespace hlosim::stablehlo
