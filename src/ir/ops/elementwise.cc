// Operations that compute element i of the result from element i of each operand.
#include <algorithm>
#include <optional>
#include <span>

#include "hlo/op_def.h"
#include "ops/divisor.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// A set of element types and its name in messages.
struct Accepted {
  bool (*holds)(ElementType);
  std::string_view words;
};
using enum NumberClass;

constexpr bool any_of(ElementType type, std::initializer_list<NumberClass> classes) {
  for (const NumberClass c : classes)
    if (number_class(type) == c) return true;
  return false;
}
constexpr Accepted kAnyType{[](ElementType) { return true; }, "any type"};
constexpr Accepted kFloats{[](ElementType t) { return is_float(t); }, "a floating-point type"};
constexpr Accepted kIntegers{[](ElementType t) { return is_integer(t); }, "an integer type"};
constexpr Accepted kFloatsOrComplex{[](ElementType t) {
                                      return any_of(t, {kFloat, kComplex});
                                    },
                                    "a floating-point or complex type"};
constexpr Accepted kSignedNumbers{[](ElementType t) {
                                    return any_of(t, {kSigned, kFloat, kComplex});
                                  },
                                  "a signed integer, floating-point or complex type"};
constexpr Accepted kNumbers{[](ElementType t) { return !is_pred(t); }, "a type of numbers"};
constexpr Accepted kBits{[](ElementType t) {
                           return any_of(t, {kPred, kSigned, kUnsigned});
                         },
                         "pred or an integer type"};

bool require_type(OpContext& op, int constraint, int64_t operand, const Accepted& accepted) {
  const ShapeRef shape = op.operand_shape(operand);
  if (accepted.holds(shape->element_type)) [[likely]]
    return true;
  op.error(constraint, "operand {} has shape {}, expected {}", operand, text_of(shape), accepted.words);
  return false;
}

// ── shapes ──────────────────────────────────────────────────────

// C1: the operand is an array.
// C2: its element type is one that the opcode takes.
template <const Accepted& kAccepted>
ShapeRef infer_unary(OpContext& op) {
  if (!require_array(op, 1, 0) || !require_type(op, 2, 0, kAccepted)) return nullptr;
  return op.operand_shape(0);
}

ShapeRef infer_is_finite(OpContext& op) {
  const ShapeRef shape = infer_unary<kFloats>(op);
  return shape ? op.shapes().with_element_type(shape, ElementType::kPred) : nullptr;
}

// abs, real, imag of complex numbers are real.
template <const Accepted& kAccepted>
ShapeRef infer_component(OpContext& op) {
  const ShapeRef shape = infer_unary<kAccepted>(op);
  if (!shape || !is_complex(shape->element_type)) return shape;
  const bool single = shape->element_type == ElementType::kC64;
  return op.shapes().with_element_type(shape, single ? ElementType::kF32 : ElementType::kF64);
}

// C1: both operands are arrays.
// C2: of the same element type, up to the precision of floats.
// C3: of the same dimensions: there is no implicit broadcast.
// C4: their element type is one that the opcode takes.
template <const Accepted& kAccepted>
ShapeRef infer_binary(OpContext& op) {
  const ShapeRef lhs = op.operand_shape(0), rhs = op.operand_shape(1);
  if (lhs == rhs && lhs->is_array() && kAccepted.holds(lhs->element_type)) [[likely]]
    return lhs;
  if (!require_arrays(op, 1)) return nullptr;
  if (!same_up_to_float_precision(lhs->element_type, rhs->element_type))
    return op.error(2, "operands have shapes {} and {}, expected the same element type", text_of(lhs),
                    text_of(rhs));
  if (!same_dimensions(lhs, rhs))
    return op.error(
        3, "operands have shapes {} and {}, expected the same dimensions: nothing is broadcast implicitly",
        text_of(lhs), text_of(rhs));
  if (!require_type(op, 4, 0, kAccepted)) return nullptr;
  return merged(op.shapes(), higher_precision(lhs->element_type, rhs->element_type), lhs, rhs);
}

ShapeRef infer_compare(OpContext& op) {
  const ShapeRef shape = infer_binary<kAnyType>(op);
  if (!shape) return nullptr;
  const ShapeRef declared = op.shape();
  if (declared && declared->is_array() && is_pred(declared->element_type) && same_dimensions(declared, shape))
    return declared;
  return op.shapes().with_element_type(shape, ElementType::kPred);
}

// C5: both parts are f32, or both f64.
ShapeRef infer_complex(OpContext& op) {
  const ShapeRef shape = infer_binary<kFloats>(op);
  if (!shape) return nullptr;
  const ElementType part = op.operand_shape(0)->element_type;
  if (part != op.operand_shape(1)->element_type || (part != ElementType::kF32 && part != ElementType::kF64))
    return op.error(5, "parts are {} and {}, expected two f32 or two f64", text_of(op.operand_shape(0)),
                    text_of(op.operand_shape(1)));
  return op.shapes().with_element_type(shape,
                                       part == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128);
}

// C1: all operands are arrays.
// C2: they have the same element type, up to the precision of floats.
// C3: each bound is a scalar or of the operand's dimensions.
ShapeRef infer_clamp(OpContext& op) {
  if (!require_arrays(op, 1)) return nullptr;
  const ShapeRef value = op.operand_shape(1);
  ElementType type = value->element_type;
  for (const int64_t i : {0, 2}) {
    const ShapeRef bound = op.operand_shape(i);
    if (!same_up_to_float_precision(bound->element_type, value->element_type))
      return op.error(2, "bound {} and value {} differ in element type", text_of(bound), text_of(value));
    if (!bound->is_scalar() && !same_dimensions(bound, value))
      return op.error(3, "bound {} is neither a scalar nor of the dimensions of {}", text_of(bound),
                      text_of(value));
    type = higher_precision(type, bound->element_type);
  }
  return type == value->element_type ? value : op.shapes().with_element_type(value, type);
}

// C1: all operands are arrays.
// C2: the two choices have the same shape, up to the precision of floats.
// C3: the predicate is of type pred.
// C4: it is a scalar or of the choices' dimensions.
ShapeRef infer_select(OpContext& op) {
  if (!require_arrays(op, 1)) return nullptr;
  const ShapeRef pred = op.operand_shape(0), on_true = op.operand_shape(1), on_false = op.operand_shape(2);
  if (!compatible_up_to_float_precision(on_true, on_false))
    return op.error(2, "choices have shapes {} and {}, expected the same", text_of(on_true),
                    text_of(on_false));
  if (!is_pred(pred->element_type))
    return op.error(3, "predicate has shape {}, expected element type pred", text_of(pred));
  if (!pred->is_scalar() && !same_dimensions(pred, on_true))
    return op.error(4, "predicate {} is neither a scalar nor of the dimensions of {}", text_of(pred),
                    text_of(on_true));
  return merged(op.shapes(), higher_precision(on_true->element_type, on_false->element_type), on_true,
                on_false);
}

/// The operand's dimensions with the declared element type.
ShapeRef with_declared_type(OpContext& op) {
  const ShapeRef operand = op.operand_shape(0), declared = op.shape();
  if (same_dimensions(declared, operand)) return declared;
  return op.shapes().with_element_type(operand, declared->element_type);
}

// C1: operand and result are arrays. Any type becomes any other: of a complex number its real part.
ShapeRef infer_convert(OpContext& op) {
  if (!require_array(op, 1, 0)) return nullptr;
  if (!op.shape()->is_array())
    return op.error(1, "result has shape {}, expected an array", text_of(op.shape()));
  return with_declared_type(op);
}

// C1: the operand is an array.
// C2: of floats.
// C3: exponent_bits is at least 1.
// C4: mantissa_bits is at least 0.
ShapeRef infer_reduce_precision(OpContext& op) {
  const ShapeRef shape = infer_unary<kFloats>(op);
  if (!shape) return nullptr;
  const int64_t exponent = op.integer(AttrKey::kExponentBits), mantissa = op.integer(AttrKey::kMantissaBits);
  if (exponent < 1) return op.error(3, "exponent_bits is {}, expected at least 1", exponent);
  if (mantissa < 0) return op.error(4, "mantissa_bits is {}, expected at least 0", mantissa);
  return shape;
}

// C1: both operands and the result are arrays.
// C2: the value is of floats.
// C3: the random bits are unsigned integers of the value's width.
// C4: value and random bits have the same dimensions.
ShapeRef infer_stochastic_convert(OpContext& op) {
  if (!require_arrays(op, 1) || !require_type(op, 2, 0, kFloats)) return nullptr;
  if (!op.shape()->is_array())
    return op.error(1, "result has shape {}, expected an array", text_of(op.shape()));
  const ShapeRef value = op.operand_shape(0), random = op.operand_shape(1);
  if (!is_unsigned_integer(random->element_type) ||
      bit_width(random->element_type) != bit_width(value->element_type))
    return op.error(3, "random bits have shape {}, expected element type u{}", text_of(random),
                    bit_width(value->element_type));
  if (!same_dimensions(value, random))
    return op.error(4, "value {} and random bits {} differ in dimensions", text_of(value), text_of(random));
  return with_declared_type(op);
}

// ── further checks ──────────────────────────────────────────────

// C5: the comparison type fits the element type: FLOAT or TOTALORDER for floats, FLOAT for complex
//     numbers, SIGNED for signed integers, UNSIGNED for unsigned ones and pred.
void check_compare(OpContext& op) {
  const std::string_view written = op.text(AttrKey::kType);
  if (written.empty()) return;
  const ElementType type = op.operand_shape(1)->element_type;
  const std::string_view expected = any_of(type, {kFloat, kComplex}) ? "FLOAT"
                                    : is_signed_integer(type)        ? "SIGNED"
                                                                     : "UNSIGNED";
  if (written == expected || (is_float(type) && written == "TOTALORDER")) return;
  op.error(5, "type={} on operands {}, expected {}{}", written, text_of(op.operand_shape(1)), expected,
           is_float(type) ? " or TOTALORDER" : "");
}

// ── work ────────────────────────────────────────────────────────

/// The operand or result whose elements fill the most registers: conversions and comparisons
/// compute at the wider side.
ShapeRef widest(const OpContext& op) {
  ShapeRef shape = op.shape();
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (operand->is_array() && operand->rank() == shape->rank() &&
        bit_width(operand->element_type) > bit_width(shape->element_type))
      shape = operand;
  }
  return shape;
}

void add_vector_work(const OpContext& op, Work& work, VectorOp vector_op, double per_element) {
  if (op.shape()->is_array()) work.vectors.push_back({vector_op, widest(op), per_element});
}

template <VectorOp kOp, int kPerElement = 1>
void vector_work(const OpContext& op, Work& work) {
  add_vector_work(op, work, kOp, kPerElement);
}

/// Per component of a complex number: a product takes 4 multiplications and 2 additions for 2.
void multiply_work(const OpContext& op, Work& work) {
  add_vector_work(op, work, VectorOp::kSimple, is_complex(op.operand_shape(0)->element_type) ? 3 : 1);
}

/// Integers have no divider and take a long sequence; a complex quotient is two products and a division.
void divide_work(const OpContext& op, Work& work) {
  const ElementType type = op.operand_shape(0)->element_type;
  const ShapeRef few = repeated_divisor(op.module(), op.instruction());
  if (few && few->element_count() <= op.shape()->element_count() / work.vector.divisor_repeats) {
    work.vectors.push_back({VectorOp::kDivide, few, 1});
    return add_vector_work(op, work, VectorOp::kSimple, 1);
  }
  add_vector_work(op, work, is_integer(type) ? VectorOp::kExpensive : VectorOp::kDivide, 1);
  if (is_complex(type)) add_vector_work(op, work, VectorOp::kSimple, 4);
}

/// sqrt(re² + im²) for complex numbers.
void abs_work(const OpContext& op, Work& work) {
  add_vector_work(op, work, VectorOp::kSimple, 1);
  if (is_complex(op.operand_shape(0)->element_type))
    add_vector_work(op, work, VectorOp::kTranscendental, 0.5);
}

// ── arithmetic ──────────────────────────────────────────────────

template <ElementOp kOp>
std::optional<ElementOp> element(const OpContext&) {
  return kOp;
}

std::optional<ElementOp> compare_element(const OpContext& op) {
  struct Direction {
    std::string_view word;
    ElementOp partial, total;
  };
  using enum ElementOp;
  constexpr Direction kDirections[] = {
      {"EQ", kEqual, kTotalEqual},     {"NE", kNotEqual, kTotalNotEqual},
      {"LT", kLess, kTotalLess},       {"LE", kLessEqual, kTotalLessEqual},
      {"GT", kGreater, kTotalGreater}, {"GE", kGreaterEqual, kTotalGreaterEqual},
  };
  const bool total = op.text(AttrKey::kType) == "TOTALORDER";
  for (const Direction& direction : kDirections)
    if (direction.word == op.text(AttrKey::kDirection)) return total ? direction.total : direction.partial;
  return std::nullopt;
}

constexpr AttrSpec kAccuracyAttrs[] = {{AttrKey::kResultAccuracy, AttrSyntax::kAccuracy}};
constexpr AttrSpec kCompareAttrs[] = {
    {AttrKey::kDirection, AttrSyntax::kWord, true},
    {AttrKey::kType, AttrSyntax::kWord},
};
constexpr AttrSpec kReducePrecisionAttrs[] = {
    {AttrKey::kExponentBits, AttrSyntax::kInt, true},
    {AttrKey::kMantissaBits, AttrSyntax::kInt, true},
};

constexpr auto simple = vector_work<VectorOp::kSimple>;
constexpr auto transcendental = vector_work<VectorOp::kTranscendental>;
constexpr auto expensive = vector_work<VectorOp::kExpensive>;

using InferFunction = ShapeRef (*)(OpContext&);
using WorkFunction = void (*)(const OpContext&, Work&);

/// Of the opcodes of this file, but for convert's numbers.
constexpr OpRules element_rules(Identity identity) {
  return {FusionRule::kElement,   LayoutRole::kLike,      ValueRule::kMakesAll,      UseRule::kAll,
          CallRule::kNone,        InPlaceRule::kNone,     OverwriteRule::kByElement, AsyncKind::kCompute,
          AsyncPart::kNone,       BufferRule::kForbidden, NumberRule::kComputed,     identity,
          DimensionRule::kElement};
}

template <ElementOp kOp>
constexpr OpDef unary(std::string_view name, InferFunction infer, WorkFunction work, Identity identity) {
  return {.name = name,
          .arity = exactly(1),
          .traits = kElementwise,
          .infer_shape = infer,
          .xla_cost = xla_cost_flop_per_element,
          .work = work,
          .element = element<kOp>,
          .evaluation = EvaluationKind::kNone,
          .rules = element_rules(identity)};
}
template <ElementOp kOp>
constexpr OpDef binary(std::string_view name, InferFunction infer, WorkFunction work, Identity identity) {
  return {.name = name,
          .arity = exactly(2),
          .traits = kElementwise,
          .infer_shape = infer,
          .xla_cost = xla_cost_flop_per_element,
          .work = work,
          .element = element<kOp>,
          .evaluation = EvaluationKind::kNone,
          .rules = element_rules(identity)};
}
/// Functions of floats and complex numbers that may ask for a result accuracy.
template <ElementOp kOp, const Accepted& kAccepted = kFloatsOrComplex>
constexpr OpDef function(std::string_view name, WorkFunction work) {
  OpDef row = unary<kOp>(name, infer_unary<kAccepted>, work, Identity::kNone);
  row.attrs = kAccuracyAttrs;
  row.xla_cost = xla_cost_transcendental_per_element;
  return row;
}
/// Functions of two numbers.
template <ElementOp kOp>
constexpr OpDef function_of_two(std::string_view name, InferFunction infer, WorkFunction work,
                                Identity identity) {
  OpDef row = binary<kOp>(name, infer, work, identity);
  row.xla_cost = xla_cost_transcendental_per_element;
  return row;
}

}  // namespace

// Operations per element follow the usual expansions on a vector unit; a guess where a function is long.

// ── one operand ─────────────────────────────────────────────────
constexpr OpDef kAbsOp =
    unary<ElementOp::kAbs>("abs", infer_component<kSignedNumbers>, abs_work, Identity::kNone);
constexpr OpDef kCeilOp = unary<ElementOp::kCeil>("ceil", infer_unary<kFloats>, simple, Identity::kNone);
constexpr OpDef kClzOp = unary<ElementOp::kCountLeadingZeros>("count-leading-zeros", infer_unary<kIntegers>,
                                                              simple, Identity::kNone);
constexpr OpDef kFloorOp = unary<ElementOp::kFloor>("floor", infer_unary<kFloats>, simple, Identity::kNone);
constexpr OpDef kImagOp =
    unary<ElementOp::kImag>("imag", infer_component<kFloatsOrComplex>, simple, Identity::kNone);
constexpr OpDef kIsFiniteOp =
    unary<ElementOp::kIsFinite>("is-finite", infer_is_finite, simple, Identity::kNone);
constexpr OpDef kNegateOp =
    unary<ElementOp::kNegate>("negate", infer_unary<kNumbers>, simple, Identity::kInvolution);
constexpr OpDef kNotOp = unary<ElementOp::kNot>("not", infer_unary<kBits>, simple, Identity::kInvolution);
constexpr OpDef kPopulationCountOp =
    unary<ElementOp::kPopulationCount>("popcnt", infer_unary<kIntegers>, simple, Identity::kNone);
constexpr OpDef kRealOp =
    unary<ElementOp::kReal>("real", infer_component<kFloatsOrComplex>, simple, Identity::kNone);
constexpr OpDef kRoundNearestAfzOp = unary<ElementOp::kRoundAwayFromZero>(
    "round-nearest-afz", infer_unary<kFloats>, vector_work<VectorOp::kSimple, 3>, Identity::kNone);
constexpr OpDef kRoundNearestEvenOp =
    unary<ElementOp::kRoundToEven>("round-nearest-even", infer_unary<kFloats>, simple, Identity::kNone);
constexpr OpDef kSignOp = unary<ElementOp::kSign>("sign", infer_unary<kSignedNumbers>,
                                                  vector_work<VectorOp::kSimple, 2>, Identity::kNone);

// Hyperbolic sine and cosine take two exponentials; the inverse hyperbolic functions a logarithm
// and a root; the inverse circular ones are polynomials with case distinctions.
constexpr OpDef kAcosOp = function<ElementOp::kAcos>("acos", expensive);
constexpr OpDef kAcoshOp = function<ElementOp::kAcosh>("acosh", vector_work<VectorOp::kTranscendental, 2>);
constexpr OpDef kAsinOp = function<ElementOp::kAsin>("asin", expensive);
constexpr OpDef kAsinhOp = function<ElementOp::kAsinh>("asinh", vector_work<VectorOp::kTranscendental, 2>);
constexpr OpDef kAtanhOp = function<ElementOp::kAtanh>("atanh", vector_work<VectorOp::kTranscendental, 2>);
constexpr OpDef kCbrtOp = function<ElementOp::kCbrt>("cbrt", expensive);
constexpr OpDef kCosOp = function<ElementOp::kCos>("cosine", expensive);
constexpr OpDef kCoshOp = function<ElementOp::kCosh>("cosh", vector_work<VectorOp::kTranscendental, 2>);
constexpr OpDef kErfOp = function<ElementOp::kErf, kFloats>("erf", expensive);
constexpr OpDef kExpOp = function<ElementOp::kExp>("exponential", transcendental);
constexpr OpDef kExpm1Op = function<ElementOp::kExpMinusOne>("exponential-minus-one", transcendental);
constexpr OpDef kLogOp = function<ElementOp::kLog>("log", transcendental);
constexpr OpDef kLog1pOp = function<ElementOp::kLogPlusOne>("log-plus-one", transcendental);
constexpr OpDef kLogisticOp = function<ElementOp::kLogistic>("logistic", transcendental);
constexpr OpDef kRsqrtOp = function<ElementOp::kRsqrt>("rsqrt", transcendental);
constexpr OpDef kSinOp = function<ElementOp::kSin>("sine", expensive);
constexpr OpDef kSinhOp = function<ElementOp::kSinh>("sinh", vector_work<VectorOp::kTranscendental, 2>);
constexpr OpDef kSqrtOp = function<ElementOp::kSqrt>("sqrt", transcendental);
constexpr OpDef kTanOp = function<ElementOp::kTan>("tan", expensive);
constexpr OpDef kTanhOp = function<ElementOp::kTanh>("tanh", transcendental);

constexpr OpDef kConvertOp = {
    .name = "convert",
    .arity = exactly(1),
    .traits = kElementwise | kNeedsShape,
    .infer_shape = infer_convert,
    .xla_cost = xla_cost_flop_per_element,
    .work = simple,
    .element = element<ElementOp::kConvert>,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kElement, LayoutRole::kLike, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kByElement, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kSameInteger, Identity::kKeepsUnits,
              DimensionRule::kElement}};
constexpr OpDef kReducePrecisionOp = {.name = "reduce-precision",
                                      .arity = exactly(1),
                                      .traits = kElementwise | kNeedsShape,
                                      .attrs = kReducePrecisionAttrs,
                                      .infer_shape = infer_reduce_precision,
                                      .xla_cost = xla_cost_flop_per_element,
                                      .work = vector_work<VectorOp::kSimple, 6>,
                                      .element = element<ElementOp::kReducePrecision>,
                                      .evaluation = EvaluationKind::kNone,
                                      .rules = element_rules(Identity::kNone)};

// ── two operands ────────────────────────────────────────────────
constexpr OpDef kAddOp = binary<ElementOp::kAdd>("add", infer_binary<kAnyType>, simple, Identity::kSum);
constexpr OpDef kAndOp = binary<ElementOp::kAnd>("and", infer_binary<kBits>, simple, Identity::kIdempotent);
constexpr OpDef kAtan2Op =
    function_of_two<ElementOp::kAtan2>("atan2", infer_binary<kFloatsOrComplex>, expensive, Identity::kNone);
constexpr OpDef kComplexOp = binary<ElementOp::kComplex>("complex", infer_complex, simple, Identity::kNone);
constexpr OpDef kDivideOp =
    binary<ElementOp::kDivide>("divide", infer_binary<kNumbers>, divide_work, Identity::kQuotient);
constexpr OpDef kMaximumOp =
    binary<ElementOp::kMaximum>("maximum", infer_binary<kAnyType>, simple, Identity::kIdempotent);
constexpr OpDef kMinimumOp =
    binary<ElementOp::kMinimum>("minimum", infer_binary<kAnyType>, simple, Identity::kIdempotent);
constexpr OpDef kMulhiOp = binary<ElementOp::kMulhi>("mulhi", infer_binary<kAnyType>,
                                                     vector_work<VectorOp::kSimple, 4>, Identity::kNone);
constexpr OpDef kMultiplyOp =
    binary<ElementOp::kMultiply>("multiply", infer_binary<kAnyType>, multiply_work, Identity::kProduct);
constexpr OpDef kOrOp = binary<ElementOp::kOr>("or", infer_binary<kBits>, simple, Identity::kIdempotent);
constexpr OpDef kPowerOp =
    function_of_two<ElementOp::kPower>("power", infer_binary<kNumbers>, expensive, Identity::kPower);
constexpr OpDef kRemainderOp =
    binary<ElementOp::kRemainder>("remainder", infer_binary<kNumbers>, divide_work, Identity::kNone);
constexpr OpDef kShiftLeftOp =
    binary<ElementOp::kShiftLeft>("shift-left", infer_binary<kNumbers>, simple, Identity::kNone);
constexpr OpDef kShiftRightArithmeticOp = binary<ElementOp::kShiftRightArithmetic>(
    "shift-right-arithmetic", infer_binary<kNumbers>, simple, Identity::kNone);
constexpr OpDef kShiftRightLogicalOp = binary<ElementOp::kShiftRightLogical>(
    "shift-right-logical", infer_binary<kNumbers>, simple, Identity::kNone);
constexpr OpDef kSubtractOp =
    binary<ElementOp::kSubtract>("subtract", infer_binary<kNumbers>, simple, Identity::kDifference);
constexpr OpDef kXorOp = binary<ElementOp::kXor>("xor", infer_binary<kBits>, simple, Identity::kNone);

constexpr OpDef kCompareOp = {.name = "compare",
                              .arity = exactly(2),
                              .traits = kElementwise,
                              .attrs = kCompareAttrs,
                              .infer_shape = infer_compare,
                              .check = check_compare,
                              .xla_cost = xla_cost_flop_per_element,
                              .work = simple,
                              .element = compare_element,
                              .evaluation = EvaluationKind::kNone,
                              .rules = element_rules(Identity::kNone)};
constexpr OpDef kStochasticConvertOp = {.name = "stochastic-convert",
                                        .arity = exactly(2),
                                        .traits = kElementwise | kNeedsShape,
                                        .infer_shape = infer_stochastic_convert,
                                        .xla_cost = xla_cost_flop_per_element,
                                        .work = vector_work<VectorOp::kSimple, 6>,
                                        .element = element<ElementOp::kStochasticConvert>,
                                        .evaluation = EvaluationKind::kNone,
                                        .rules = element_rules(Identity::kNone)};

// ── three operands ──────────────────────────────────────────────
constexpr OpDef kClampOp = {.name = "clamp",
                            .arity = exactly(3),
                            .traits = kElementwise,
                            .infer_shape = infer_clamp,
                            .xla_cost = xla_cost_flop_per_element,
                            .work = vector_work<VectorOp::kSimple, 2>,
                            .element = element<ElementOp::kClamp>,
                            .evaluation = EvaluationKind::kNone,
                            .rules = element_rules(Identity::kNone)};
constexpr OpDef kSelectOp = {.name = "select",
                             .arity = exactly(3),
                             .traits = kElementwise,
                             .infer_shape = infer_select,
                             .xla_cost = xla_cost_flop_per_element,
                             .work = simple,
                             .element = element<ElementOp::kSelect>,
                             .evaluation = EvaluationKind::kNone,
                             .rules = element_rules(Identity::kNone)};

}  // namespace hlosim
