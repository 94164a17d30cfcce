// Operations whose sizes are operands: made static where these don't depend on arguments. And quantized
// types, which are refused.
#include <algorithm>

#include "stablehlo/types.h"
#include "stablehlo/windows.h"

namespace hlosim::stablehlo {
namespace {

/// The integers of operand `i`; a report where they depend on arguments.
std::optional<std::vector<int64_t>> known_operand(OpLowering& op, size_t i) {
  auto values = op.lowering().known(op.operand(i));
  if (!values && !op.failed())
    op.fail(
        "operand {} isn't constant: a program whose shapes are dynamic, and depend on values, is not "
        "supported",
        i);
  return values;
}

/// The declared result, or an array of the sizes that operand `i` holds.
ShapeRef result_by(OpLowering& op, size_t i) {
  if (const ShapeRef declared = op.result(); declared || op.failed()) return declared;
  const auto sizes = known_operand(op, i);
  if (!sizes || !op.mlir().results[0]->type->element) return op.static_result();
  return op.shapes().array(element_type_of(*op.mlir().results[0]->type->element), *sizes);
}

void lower_dynamic_reshape(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const InstructionId operand = op.operand(0);
  const ShapeRef result = result_by(op, 1);
  op.give(op.make(Opcode::kReshape, {operand}, {}, result));
}

void lower_dynamic_broadcast_in_dim(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const InstructionId operand = op.operand(0);
  const std::vector<int64_t> dimensions = op.list("broadcast_dimensions");
  const ShapeRef result = result_by(op, 1);
  if (!op.failed()) op.give(op.broadcast_in_dim(operand, dimensions, result));
}

void lower_dynamic_iota(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const Attr dimension = Attr::make_int(AttrKey::kIotaDimension, op.integer("iota_dimension"));
  const ShapeRef result = result_by(op, 0);
  op.give(op.make(Opcode::kIota, {}, {dimension}, result));
}

void lower_dynamic_pad(OpLowering& op, Opcode) {
  if (!op.takes(5)) return;
  const auto low = known_operand(op, 2), high = known_operand(op, 3), interior = known_operand(op, 4);
  if (!low || !high || !interior) return;
  if (low->size() != high->size() || low->size() != interior->size()) {
    op.fail("{} low, {} high and {} interior paddings, expected as many of each", low->size(), high->size(),
            interior->size());
    return;
  }
  const InstructionId operands[] = {op.operand(0), op.operand(1)};
  if (low->empty()) return op.give(operands[0]);
  IntRows padding;
  for (size_t i = 0; i < low->size(); ++i) padding.push_back({(*low)[i], (*high)[i], (*interior)[i]});
  const Attr attrs[] = {op.builder().lists(AttrKey::kPadding, padding)};
  op.give(op.make(Opcode::kPad, operands, attrs, op.result()));
}

void lower_real_dynamic_slice(OpLowering& op, Opcode) {
  if (!op.takes(4)) return;
  const auto starts = known_operand(op, 1), limits = known_operand(op, 2), strides = known_operand(op, 3);
  if (!starts || !limits || !strides) return;
  if (starts->size() != limits->size() || starts->size() != strides->size()) {
    op.fail("{} starts, {} limits, {} strides, expected as many of each", starts->size(), limits->size(),
            strides->size());
    return;
  }
  IntRows slices;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < starts->size(); ++i) {
    const int64_t start = (*starts)[i], limit = (*limits)[i], stride = (*strides)[i];
    slices.push_back({start, limit, stride});
    sizes.push_back(stride < 1 ? 0 : (limit - start + stride - 1) / stride);
  }
  const InstructionId operand = op.operand(0);
  const ShapeRef declared = op.result();
  if (op.failed()) return;
  op.give(op.make(Opcode::kSlice, {operand}, {op.builder().lists(AttrKey::kSlice, slices)},
                  declared ? declared : op.shapes().array(op.type(operand), sizes)));
}

void lower_dynamic_gather(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  if (const auto sizes = known_operand(op, 2)) give_gather(op, *sizes);
}

void lower_dynamic_conv(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const auto flat = known_operand(op, 2);
  if (!flat) return;
  IntRows padding;
  for (size_t i = 0; i + 1 < flat->size(); i += 2) padding.push_back({(*flat)[i], (*flat)[i + 1]});
  give_convolution(op, padding);
}

void refuse_quantized(OpLowering& op, Opcode) { op.fail("quantized programs are not supported"); }

constexpr Row kDynamic[] = {
    {"stablehlo.dynamic_broadcast_in_dim", lower_dynamic_broadcast_in_dim},
    {"stablehlo.dynamic_conv", lower_dynamic_conv},
    {"stablehlo.dynamic_gather", lower_dynamic_gather},
    {"stablehlo.dynamic_iota", lower_dynamic_iota},
    {"stablehlo.dynamic_pad", lower_dynamic_pad},
    {"stablehlo.dynamic_reshape", lower_dynamic_reshape},
    {"stablehlo.real_dynamic_slice", lower_real_dynamic_slice},
};
constexpr Row kQuantized[] = {
    {"stablehlo.uniform_dequantize", refuse_quantized},
    {"stablehlo.uniform_quantize", refuse_quantized},
};

}  // namespace

std::span<const Row> dynamic_rows() { return kDynamic; }
std::span<const Row> quantized_rows() { return kQuantized; }

}  // namespace hlosim::stablehlo
