// Constants, and operations that give elements other places.
#include <algorithm>

#include "stablehlo/op_lowering.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

/// From this many equal elements on a constant is a scalar and its broadcast.
constexpr int64_t kLargeSplat = 32;

void lower_constant(OpLowering& op, Opcode) {
  const mlir::Attribute* value = op.need("value");
  const ShapeRef shape = op.static_result();
  if (op.failed()) return;
  if (!shape->is_array()) {
    op.fail("the result is {}, expected an array", to_text_without_layout(shape));
    return;
  }
  if (value->kind == mlir::AttributeKind::kDense && value->elements.is_splat &&
      shape->element_count() >= kLargeSplat) {
    const InstructionId scalar = op.constant(literal_of(op, *value, op.shapes().scalar(shape->element_type)));
    return op.give(op.splat(scalar, shape));
  }
  op.give(op.constant(literal_of(op, *value, shape)));
}

void lower_iota(OpLowering& op, Opcode) {
  const Attr dimension = Attr::make_int(AttrKey::kIotaDimension, op.integer("iota_dimension"));
  op.give(op.make(Opcode::kIota, {}, {dimension}, op.static_result()));
}

void lower_reshape(OpLowering& op, Opcode opcode) {
  if (op.takes(1)) op.give(op.make(opcode, {op.operand(0)}, {}, op.static_result()));
}

/// A truth value is one bit there, a byte in HLO: it goes through numbers of one bit.
void lower_bitcast_convert(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const ShapeRef result = op.static_result();
  InstructionId operand = op.operand(0);
  if (op.failed()) return;
  const bool from_pred = op.shape(operand)->is_array() && is_pred(op.type(operand));
  const bool to_pred = result->is_array() && is_pred(result->element_type);
  if (from_pred == to_pred) return op.give(op.make(Opcode::kBitcastConvert, {operand}, {}, result));
  if (from_pred) operand = op.convert(operand, ElementType::kU1);
  const ShapeRef bits = to_pred ? op.shapes().with_element_type(result, ElementType::kU1) : result;
  const InstructionId made = op.make(Opcode::kBitcastConvert, {operand}, {}, bits);
  op.give(to_pred ? op.convert(made, ElementType::kPred) : made);
}

void lower_broadcast_in_dim(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  const std::vector<int64_t> dimensions = op.list("broadcast_dimensions");
  const ShapeRef result = op.static_result();
  if (!op.failed()) op.give(op.broadcast_in_dim(operand, dimensions, result));
}

void lower_broadcast(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  std::vector<int64_t> sizes = op.list("broadcast_sizes"), dimensions;
  if (op.failed()) return;
  for (int64_t i = 0; i < op.rank(operand); ++i) {
    dimensions.push_back(static_cast<int64_t>(sizes.size()) + i);
  }
  for (const int64_t size : op.shape(operand)->dimensions) sizes.push_back(size);
  const ShapeRef declared = op.result();
  op.give(op.make(Opcode::kBroadcast, {operand}, {op.ints(AttrKey::kDimensions, dimensions)},
                  declared ? declared : op.shapes().array(op.type(operand), sizes)));
}

void lower_transpose(OpLowering& op, Opcode) {
  if (op.takes(1))
    op.give(op.make(Opcode::kTranspose, {op.operand(0)}, {op.ints(AttrKey::kDimensions, "permutation")},
                    op.result()));
}

void lower_reverse(OpLowering& op, Opcode) {
  if (op.takes(1))
    op.give(op.make(Opcode::kReverse, {op.operand(0)}, {op.ints(AttrKey::kDimensions, "dimensions")},
                    op.result()));
}

void lower_concatenate(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  const Attr attrs[] = {op.ints(AttrKey::kDimensions, {op.integer("dimension")})};
  op.give(op.make(Opcode::kConcatenate, operands, attrs, op.result()));
}

void lower_slice(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const std::vector<int64_t> starts = op.list("start_indices"), limits = op.list("limit_indices");
  const std::vector<int64_t> strides = op.list_or("strides", std::vector<int64_t>(starts.size(), 1));
  if (op.failed()) return;
  if (starts.size() != limits.size() || starts.size() != strides.size()) {
    op.fail("{} starts, {} limits, {} strides, expected as many of each", starts.size(), limits.size(),
            strides.size());
    return;
  }
  std::vector<std::vector<int64_t>> slices;
  for (size_t i = 0; i < starts.size(); ++i) slices.push_back({starts[i], limits[i], strides[i]});
  const InstructionId operand = op.operand(0);
  ShapeRef result = op.result();
  if (op.failed()) return;
  if (!result) {
    std::vector<int64_t> sizes;
    for (const auto& slice : slices)
      sizes.push_back(slice[2] < 1 ? 0 : (slice[1] - slice[0] + slice[2] - 1) / slice[2]);
    result = op.shapes().array(op.type(operand), sizes);
  }
  op.give(op.make(Opcode::kSlice, {operand}, {op.builder().lists(AttrKey::kSlice, slices)}, result));
}

void lower_pad(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const std::vector<int64_t> low = op.list("edge_padding_low"), high = op.list("edge_padding_high");
  const std::vector<int64_t> interior = op.list_or("interior_padding", std::vector<int64_t>(low.size()));
  if (op.failed()) return;
  if (low.size() != high.size() || low.size() != interior.size()) {
    op.fail("{} low, {} high and {} interior paddings, expected as many of each", low.size(), high.size(),
            interior.size());
    return;
  }
  const Values operands = op.operands();
  if (op.failed()) return;
  // HLO can't write the padding of no dimension.
  if (low.empty()) return op.give(operands[0]);
  std::vector<std::vector<int64_t>> padding;
  for (size_t i = 0; i < low.size(); ++i) padding.push_back({low[i], high[i], interior[i]});
  const Attr attrs[] = {op.builder().lists(AttrKey::kPadding, padding)};
  op.give(op.make(Opcode::kPad, operands, attrs, op.result()));
}

void lower_dynamic_slice(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  const std::vector<int64_t> sizes = op.list("slice_sizes");
  const Attr attrs[] = {op.ints(AttrKey::kDynamicSliceSizes, sizes)};
  const ShapeRef declared = op.result();
  if (op.failed() || !op.takes_at_least(1)) return;
  op.give(op.make(Opcode::kDynamicSlice, operands, attrs,
                  declared ? declared : op.shapes().array(op.type(operands[0]), sizes)));
}

void lower_dynamic_update_slice(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  if (op.failed() || !op.takes_at_least(2)) return;
  op.give(op.make(Opcode::kDynamicUpdateSlice, operands, {}, op.shape(operands[0])));
}

void lower_get_dimension_size(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  const int64_t dimension = op.integer("dimension");
  if (op.failed()) return;
  const ShapeRef shape = op.shape(operand);
  if (!shape->is_array() || dimension < 0 || dimension >= shape->rank()) {
    op.fail("dimension {} of {}, which has no such dimension", dimension, to_text_without_layout(shape));
    return;
  }
  if (shape->is_dynamic(dimension))
    return op.give(
        op.make(Opcode::kGetDimensionSize, {operand}, {op.ints(AttrKey::kDimensions, {dimension})}));
  const int64_t size[] = {shape->dim(dimension)};
  op.give(op.constant_ints(ElementType::kS32, {}, size));
}

void lower_set_dimension_size(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const Values operands = op.operands();
  const int64_t dimension = op.integer("dimension");
  const Attr attrs[] = {op.ints(AttrKey::kDimensions, {dimension})};
  if (op.failed()) return;
  const ShapeRef operand = op.shape(operands[0]);
  if (dimension < 0 || dimension >= operand->rank()) {
    op.fail("dimension {} of {}, which has no such dimension", dimension, to_text_without_layout(operand));
    return;
  }
  ShapeRef result = is_dynamic(*op.mlir().results[0]->type) ? nullptr : op.result();
  // A constant that is the whole dimension makes it static again.
  const auto size = op.lowering().known(operands[1]);
  if (result && result->is_static() && size && *size == std::vector<int64_t>{operand->dim(dimension)})
    return op.give(operand->is_dynamic(dimension)
                       ? op.make(Opcode::kSetDimensionSize, operands, attrs, result)
                       : operands[0]);
  if (result && result->is_static()) result = nullptr;
  op.give(op.make(Opcode::kSetDimensionSize, operands, attrs, result));
}

void lower_tuple(OpLowering& op, Opcode) { op.give(op.tuple(op.operands())); }

void lower_get_tuple_element(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId tuple = op.operand(0);
  const int64_t index = op.integer("index");
  if (!op.failed()) op.give(op.element(tuple, index));
}

void lower_optimization_barrier(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  if (op.failed() || operands.empty()) return op.give_all(operands);
  if (operands.size() == 1) return op.give(op.make(Opcode::kOptimizationBarrier, operands));
  const InstructionId tuple = op.tuple(operands);
  op.give_elements(op.make(Opcode::kOptimizationBarrier, {tuple}));
}

/// What a conversion between dialects left behind, `1 to 1` or `n to n`: the values in types that have the
/// same bits. Signless integers are signed here, so that a cast may change the sign.
void lower_unrealized_cast(OpLowering& op, Opcode) {
  if (!op.takes(op.result_count())) return;
  Values values = op.operands();
  for (size_t i = 0; i < values.size(); ++i) {
    const ShapeRef from = op.failed() ? nullptr : op.shape(values[i]);
    const ShapeRef to = op.static_result(i);
    if (op.failed()) return;
    if (compatible(from, to)) continue;
    const bool same_bits = from->is_array() && to->is_array() && is_integer(from->element_type) &&
                           is_integer(to->element_type) &&
                           bit_width(from->element_type) == bit_width(to->element_type) &&
                           std::ranges::equal(from->dimensions, to->dimensions);
    if (!same_bits) {
      op.fail("casts {} to {}, expected types of the same bits", to_text_without_layout(from),
              to_text_without_layout(to));
      return;
    }
    values[i] = op.make(Opcode::kBitcastConvert, {values[i]}, {}, to);
  }
  op.give_all(values);
}

constexpr Row kShapesRows[] = {
    {"builtin.unrealized_conversion_cast", lower_unrealized_cast},
    {"stablehlo.bitcast_convert", lower_bitcast_convert},
    {"stablehlo.broadcast", lower_broadcast},
    {"stablehlo.broadcast_in_dim", lower_broadcast_in_dim},
    {"stablehlo.concatenate", lower_concatenate},
    {"stablehlo.constant", lower_constant},
    {"stablehlo.dynamic_slice", lower_dynamic_slice},
    {"stablehlo.dynamic_update_slice", lower_dynamic_update_slice},
    {"stablehlo.get_dimension_size", lower_get_dimension_size},
    {"stablehlo.get_tuple_element", lower_get_tuple_element},
    {"stablehlo.iota", lower_iota},
    {"stablehlo.optimization_barrier", lower_optimization_barrier},
    {"stablehlo.pad", lower_pad},
    {"stablehlo.reshape", lower_reshape},
    {"stablehlo.reverse", lower_reverse},
    {"stablehlo.set_dimension_size", lower_set_dimension_size},
    {"stablehlo.slice", lower_slice},
    {"stablehlo.transpose", lower_transpose},
    {"stablehlo.tuple", lower_tuple},
    {"sdy.constant", lower_constant},
    {"chlo.constant", lower_constant},
    {"arith.constant", lower_constant},
};

}  // namespace

std::span<const Row> shape_rows() { return kShapesRows; }

}  // namespace hlosim::stablehlo
