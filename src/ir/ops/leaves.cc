// Where values come from, tuples and random bits.
#include <algorithm>
#include <vector>

#include "hlo/op_def.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

ShapeRef infer_declared(OpContext& op) { return op.shape(); }

ShapeRef infer_device_number(OpContext& op) { return op.shapes().scalar(ElementType::kU32); }

// C1: the result is an array.
// C2: of at least one dimension.
// C3: iota_dimension is one of its dimensions.
// C4: its elements are numbers, not pred.
ShapeRef infer_iota(OpContext& op) {
  const ShapeRef shape = op.shape();
  if (!shape->is_array()) return op.error(1, "result has shape {}, expected an array", text_of(shape));
  if (shape->rank() == 0)
    return op.error(2, "result has shape {}, expected at least one dimension", text_of(shape));
  if (!require_dimension(op, 3, "iota_dimension", op.integer(AttrKey::kIotaDimension), shape->rank()))
    return nullptr;
  if (is_pred(shape->element_type))
    return op.error(4, "result has shape {}, expected integer, floating-point or complex elements",
                    text_of(shape));
  return shape;
}

// C1: a declared tuple has as many elements as there are operands.
void check_tuple_syntax(OpContext& op) {
  const auto count = static_cast<size_t>(op.operand_count());
  const ShapeRef declared = op.shape();
  if (!declared->is_tuple())
    op.error(1, "declared shape is {}, expected a tuple", text_of(declared));
  else if (declared->elements.size() != count)
    op.error(1, "{} operands, but the declared shape {} has {} elements", count, text_of(declared),
             declared->elements.size());
}

ShapeRef infer_tuple(OpContext& op) {
  const auto count = static_cast<size_t>(op.operand_count());
  const ShapeRef declared = op.shape();
  if (declared && declared->is_tuple() && declared->elements.size() == count) {
    size_t i = 0;
    while (i < count && compatible(declared->elements[i], op.operand_shape(static_cast<int64_t>(i)))) ++i;
    if (i == count) return declared;
  }
  std::vector<ShapeRef> elements(count);
  for (size_t i = 0; i < count; ++i) elements[i] = op.operand_shape(static_cast<int64_t>(i));
  return op.shapes().tuple(elements);
}

// C1: the operand is a tuple.
// C2: index is one of its elements.
ShapeRef infer_get_tuple_element(OpContext& op) {
  const ShapeRef tuple = op.operand_shape(0);
  if (!tuple->is_tuple()) return op.error(1, "operand has shape {}, expected a tuple", text_of(tuple));
  const int64_t index = op.integer(AttrKey::kIndex);
  const auto count = static_cast<int64_t>(tuple->elements.size());
  if (index < 0 || index >= count)
    return op.error(2, "index {} is out of range, {} has {} elements", index, text_of(tuple), count);
  return tuple->elements[static_cast<size_t>(index)];
}

// C1: there are two operands.
// C2: both are scalars.
// C3: of the same element type, which is the result's up to the precision of floats.
// C4: rng_uniform makes pred, integers or floats; rng_normal makes floats.
// C5: the distribution is one of these two.
ShapeRef infer_rng(OpContext& op) {
  const ShapeRef result = op.shape();
  if (op.operand_count() != 2) return op.error(1, "{} operands, expected 2", op.operand_count());
  if (!require_scalar(op, 2, 0) || !require_scalar(op, 2, 1)) return nullptr;
  const ElementType type = op.operand_shape(0)->element_type;
  if (!result->is_array() || op.operand_shape(1)->element_type != type ||
      !same_up_to_float_precision(result->element_type, type))
    return op.error(3, "operands {} and {}, result {}, expected the same element type",
                    text_of(op.operand_shape(0)), text_of(op.operand_shape(1)), text_of(result));
  const std::string_view distribution = op.text(AttrKey::kDistribution);
  const bool normal = distribution == "rng_normal";
  if (!normal && distribution != "rng_uniform")
    return op.error(5, "distribution is {}, expected rng_uniform or rng_normal", distribution);
  if (normal ? !is_float(type) : is_complex(type))
    return op.error(4, "{} of element type {}, expected {}", distribution, to_text(type),
                    normal ? "a floating-point type" : "pred, an integer or a floating-point type");
  return result;
}

// C1: a tuple result has two elements: the new state and the bits.
// C2: the new state has the shape of the old one.
ShapeRef infer_rng_bit_generator(OpContext& op) {
  const ShapeRef result = op.shape();
  if (!result->is_tuple()) return result;
  if (result->elements.size() != 2)
    return op.error(1, "result has shape {}, expected (state, bits)", text_of(result));
  if (!compatible(result->elements[0], op.operand_shape(0)))
    return op.error(2, "new state is {}, expected the old state's {}", text_of(result->elements[0]),
                    text_of(op.operand_shape(0)));
  return result;
}

ShapeRef infer_rng_state(OpContext& op) {
  const int64_t words[] = {2};
  return op.shapes().array(ElementType::kU64, words);
}

// ── work ────────────────────────────────────────────────────────

void iota_work(const OpContext& op, Work& work) {
  work.vectors.push_back({VectorOp::kSimple, op.shape(), 1});
}

/// A stateful generator, counted as Philox bits and the transformation to the distribution.
void rng_work(const OpContext& op, Work& work) {
  work.vectors.push_back({VectorOp::kSimple, op.shape(), 36});
  if (op.text(AttrKey::kDistribution) == "rng_normal")
    work.vectors.push_back({VectorOp::kExpensive, op.shape(), 1});
}

/// Simple operations per 32 random bits, counted from the algorithms. Threefry2x32: 20 rounds of add,
/// rotate (3) and xor and 5 key injections for two words. Philox4x32: 10 rounds of two double-width
/// products (4 each) and 4 xors and two key increments for four words. The default algorithm of a TPU
/// is its hardware generator.
void rng_bit_generator_work(const OpContext& op, Work& work) {
  const ShapeRef bits = op.shape()->is_tuple() ? op.shape()->elements[1] : op.shape();
  if (!bits->is_array()) return;
  const std::string_view algorithm = op.text(AttrKey::kAlgorithm);
  const double per_word = algorithm == "rng_three_fry" ? 58 : algorithm == "rng_philox" ? 36 : 1;
  // Types narrower than a word take the low bits of a whole one.
  work.vectors.push_back(
      {VectorOp::kSimple, bits, per_word * std::max(1.0, 32.0 / bit_width(bits->element_type))});
}

constexpr AttrSpec kIotaAttrs[] = {{AttrKey::kIotaDimension, AttrSyntax::kInt, true}};
constexpr AttrSpec kGetTupleElementAttrs[] = {{AttrKey::kIndex, AttrSyntax::kInt, true}};
constexpr AttrSpec kRngAttrs[] = {{AttrKey::kDistribution, AttrSyntax::kWord, true}};
constexpr AttrSpec kRngBitGeneratorAttrs[] = {{AttrKey::kAlgorithm, AttrSyntax::kWord, true}};
constexpr AttrSpec kRngStateAttrs[] = {{AttrKey::kDelta, AttrSyntax::kInt, true}};

}  // namespace

constexpr OpDef kConstantOp = {
    .name = "constant",
    .arity = exactly(0),
    .traits = kFree | kNeedsShape | kExactTypes,
    .infer_shape = infer_declared,
    .xla_cost = xla_cost_nothing,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kFillOfScalar, LayoutRole::kAny, ValueRule::kMakesAll, UseRule::kAll,
              CallRule::kNone, InPlaceRule::kNone, OverwriteRule::kByElement, AsyncKind::kCompute,
              AsyncPart::kNone, BufferRule::kForbidden, NumberRule::kConstant, Identity::kNone,
              DimensionRule::kFree}};
constexpr OpDef kParameterOp = {
    .name = "parameter",
    .arity = exactly(0),
    .traits = kFree | kNeedsShape | kExactTypes,
    .infer_shape = infer_declared,
    .xla_cost = xla_cost_nothing,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kParameter, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kParameter, NumberRule::kParameter, Identity::kNone, DimensionRule::kFree}};
constexpr OpDef kIotaOp = {
    .name = "iota",
    .arity = exactly(0),
    .traits = kNeedsShape,
    .attrs = kIotaAttrs,
    .infer_shape = infer_iota,
    .work = iota_work,
    .evaluation = EvaluationKind::kIota,
    .rules = {FusionRule::kFill, LayoutRole::kAny, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
constexpr OpDef kPartitionIdOp = {
    .name = "partition-id",
    .arity = exactly(0),
    .traits = kFree,
    .infer_shape = infer_device_number,
    .evaluation = EvaluationKind::kPartitionId,
    .rules = {FusionRule::kNever, LayoutRole::kAny, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
constexpr OpDef kReplicaIdOp = {
    .name = "replica-id",
    .arity = exactly(0),
    .traits = kFree,
    .infer_shape = infer_device_number,
    .evaluation = EvaluationKind::kReplicaId,
    .rules = {FusionRule::kNever, LayoutRole::kAny, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};

constexpr OpDef kTupleOp = {
    .name = "tuple",
    .arity = at_least(0),
    .traits = kFree | kExactTypes,
    .check_syntax = check_tuple_syntax,
    .infer_shape = infer_tuple,
    .xla_cost = xla_cost_tuple,
    .forward = forward_in_order,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kTuple, UseRule::kNone, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kPasses,
              BufferRule::kHandsOn, NumberRule::kTuple, Identity::kNone, DimensionRule::kForwards}};
constexpr OpDef kGetTupleElementOp = {
    .name = "get-tuple-element",
    .arity = exactly(1),
    .traits = kFree | kExactTypes,
    .attrs = kGetTupleElementAttrs,
    .infer_shape = infer_get_tuple_element,
    .xla_cost = xla_cost_nothing,
    .forward = forward_tuple_element,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kHandsOn, ValueRule::kElement, UseRule::kTop, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kPasses,
              BufferRule::kHandsOn, NumberRule::kElement, Identity::kNone, DimensionRule::kForwards}};

constexpr OpDef kRngOp = {
    .name = "rng",
    .arity = at_least(0),
    .traits = kNeedsShape,
    .attrs = kRngAttrs,
    .infer_shape = infer_rng,
    .xla_cost = xla_cost_rng,
    .work = rng_work,
    .evaluation = EvaluationKind::kRng,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
constexpr OpDef kRngBitGeneratorOp = {
    .name = "rng-bit-generator",
    .arity = exactly(1),
    .traits = kNeedsShape,
    .attrs = kRngBitGeneratorAttrs,
    .infer_shape = infer_rng_bit_generator,
    .xla_cost = xla_cost_rng,
    .work = rng_bit_generator_work,
    .evaluation = EvaluationKind::kRngBitGenerator,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};
constexpr OpDef kRngGetAndUpdateStateOp = {
    .name = "rng-get-and-update-state",
    .arity = exactly(0),
    .traits = kSideEffect | kNeedsShape,
    .attrs = kRngStateAttrs,
    .infer_shape = infer_rng_state,
    .evaluation = EvaluationKind::kRngGetAndUpdateState,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};

}  // namespace hlosim
