// CHLO's operations that HLO has, or that a few instructions stand for.
#include <algorithm>
#include <limits>

#include "stablehlo/expression.h"
#include "stablehlo/types.h"
#include "stablehlo/windows.h"

namespace hlosim::stablehlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void lower_unary(OpLowering& op, Opcode opcode) {
  if (op.takes(1)) op.give(op.make(opcode, {op.operand(0)}, {}, op.result()));
}

void lower_binary(OpLowering& op, Opcode opcode) {
  if (op.takes(2)) op.give(op.make(opcode, {op.operand(0), op.operand(1)}, {}, op.result()));
}

void lower_conj(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const Expression x(op, op.operand(0));
  if (op.failed()) return;
  if (!x.is_complex_number()) return op.give(x.id());
  op.give(complex_of(real(x), -imag(x)).id());
}

void lower_is_inf(OpLowering& op, Opcode) {
  if (op.takes(1)) op.give((abs(Expression(op, op.operand(0))) == kInfinity).id());
}
void lower_is_pos_inf(OpLowering& op, Opcode) {
  if (op.takes(1)) op.give((Expression(op, op.operand(0)) == kInfinity).id());
}
void lower_is_neg_inf(OpLowering& op, Opcode) {
  if (op.takes(1)) op.give((Expression(op, op.operand(0)) == -kInfinity).id());
}

/// The real part of a complex square as a product, so that little is lost where both parts are alike; where
/// they are, a sum that overflows makes no difference.
void lower_square(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const Expression x(op, op.operand(0));
  if (op.failed()) return;
  if (!x.is_complex_number()) return op.give((x * x).id());
  const Expression re = real(x), im = imag(x), magnitude = abs(re);
  const Expression alike = is_finite(magnitude) && (magnitude == abs(im));
  op.give(complex_of(select(alike, 0.0, (re - im) * (re + im)), re * im * 2.0).id());
}

void lower_broadcast_binary(OpLowering& op, Opcode opcode) {
  if (!op.takes(2)) return;
  const Values operands = op.operands();
  if (op.failed()) return;
  const Values alike = broadcast_alike(op, operands);
  if (op.failed()) return;
  const bool pred = is_pred(op.type(alike[0]));
  if (pred && opcode == Opcode::kAdd) opcode = Opcode::kOr;
  if (pred && opcode == Opcode::kMultiply) opcode = Opcode::kAnd;
  op.give(op.make(opcode, alike, {}, op.result()));
}

void lower_broadcast_compare(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const mlir::Attribute* direction = op.need("comparison_direction");
  const Values operands = op.operands();
  if (op.failed()) return;
  const Values alike = broadcast_alike(op, operands);
  std::vector<Attr> attrs = {op.word(AttrKey::kDirection, direction->text)};
  const mlir::Attribute* type = op.find("compare_type");
  if (type && type->text != "NOTYPE") attrs.push_back(op.word(AttrKey::kType, type->text));
  op.give(op.make(Opcode::kCompare, alike, attrs, op.result()));
}

void lower_broadcast_select(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const Values operands = op.operands();
  if (op.failed()) return;
  op.give(op.make(Opcode::kSelect, broadcast_alike(op, operands), {}, op.result()));
}

void lower_constant_like(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  const mlir::Attribute* value = op.need("value");
  if (op.failed()) return;
  const double number =
      value->kind == mlir::AttributeKind::kFloat ? value->number : static_cast<double>(value->integer);
  op.give(op.number_like(operand, number));
}

void lower_top_k(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId operand = op.operand(0);
  const int64_t k = op.integer("k");
  std::vector<Attr> attrs = {Attr::make_int(AttrKey::kK, k),
                             Attr::make_bool(AttrKey::kLargest, op.flag("largest", true))};
  op.give_elements(op.make(Opcode::kTopK, {&operand, 1}, attrs));
}

void lower_ragged_dot(OpLowering& op, Opcode) {
  if (!op.takes(3)) return;
  const mlir::Attribute* numbers = op.need("ragged_dot_dimension_numbers");
  if (!numbers) return;
  std::vector<Attr> attrs;
  const auto add = [&](AttrKey key, std::string_view name) {
    const std::vector<int64_t> dimensions = op.list_in(*numbers, name);
    if (!dimensions.empty()) attrs.push_back(op.ints(key, dimensions));
  };
  add(AttrKey::kLhsBatchDims, "lhs_batching_dimensions");
  add(AttrKey::kLhsContractingDims, "lhs_contracting_dimensions");
  add(AttrKey::kRhsBatchDims, "rhs_batching_dimensions");
  add(AttrKey::kRhsContractingDims, "rhs_contracting_dimensions");
  add(AttrKey::kLhsRaggedDims, "lhs_ragged_dimensions");
  add(AttrKey::kRhsGroupDims, "rhs_group_dimensions");
  for (const Attr& attr : precision_attrs(op)) attrs.push_back(attr);
  const Values operands = op.operands();
  op.give(op.make(Opcode::kRaggedDot, operands, attrs, op.result()));
}

void lower_reshape(OpLowering& op, Opcode) {
  if (!op.takes_at_least(1)) return;
  const InstructionId operand = op.operand(0);
  const ShapeRef result = op.static_result();
  if (!op.failed()) op.give(op.make(Opcode::kReshape, {operand}, {}, result));
}

constexpr Row kChloRows[] = {
    {"chlo.acos", lower_unary},
    {"chlo.acosh", lower_unary},
    {"chlo.asin", lower_unary},
    {"chlo.asinh", lower_unary},
    {"chlo.atanh", lower_unary},
    {"chlo.broadcast_add", lower_broadcast_binary},
    {"chlo.broadcast_and", lower_broadcast_binary},
    {"chlo.broadcast_atan2", lower_broadcast_binary},
    {"chlo.broadcast_compare", lower_broadcast_compare},
    {"chlo.broadcast_complex", lower_broadcast_binary},
    {"chlo.broadcast_divide", lower_broadcast_binary},
    {"chlo.broadcast_maximum", lower_broadcast_binary},
    {"chlo.broadcast_minimum", lower_broadcast_binary},
    {"chlo.broadcast_multiply", lower_broadcast_binary},
    {"chlo.broadcast_or", lower_broadcast_binary},
    {"chlo.broadcast_power", lower_broadcast_binary},
    {"chlo.broadcast_remainder", lower_broadcast_binary},
    {"chlo.broadcast_select", lower_broadcast_select},
    {"chlo.broadcast_shift_left", lower_broadcast_binary},
    {"chlo.broadcast_shift_right_arithmetic", lower_broadcast_binary},
    {"chlo.broadcast_shift_right_logical", lower_broadcast_binary},
    {"chlo.broadcast_subtract", lower_broadcast_binary},
    {"chlo.broadcast_xor", lower_broadcast_binary},
    {"chlo.conj", lower_conj},
    {"chlo.constant_like", lower_constant_like},
    {"chlo.dynamic_reshape", lower_reshape},
    {"chlo.erf", lower_unary},
    {"chlo.is_inf", lower_is_inf},
    {"chlo.is_neg_inf", lower_is_neg_inf},
    {"chlo.is_pos_inf", lower_is_pos_inf},
    {"chlo.mulhi", lower_binary},
    {"chlo.ragged_dot", lower_ragged_dot},
    {"chlo.square", lower_square},
    {"chlo.tan", lower_unary},
    {"chlo.top_k", lower_top_k},
};

}  // namespace

Values broadcast_alike(OpLowering& op, const Values& operands) {
  if (op.failed()) return operands;
  std::vector<int64_t> sizes;
  for (const InstructionId operand : operands) {
    const auto dims = op.shape(operand)->dimensions;
    sizes.insert(sizes.begin(), dims.size() > sizes.size() ? dims.size() - sizes.size() : 0, 1);
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& size = sizes[sizes.size() - dims.size() + i];
      if (size != dims[i] && size != 1 && dims[i] != 1) {
        op.fail("sizes {} and {} can't be broadcast to one", size, dims[i]);
        return operands;
      }
      size = std::max(size, dims[i]) == 1 || (size == 0 || dims[i] == 0) ? std::min(size, dims[i])
                                                                         : std::max(size, dims[i]);
    }
  }
  Values alike;
  for (const InstructionId operand : operands) {
    const auto rank = static_cast<size_t>(op.rank(operand));
    // How a shorter operand lies may be said.
    std::vector<int64_t> dimensions =
        rank < sizes.size() ? op.list_or("broadcast_dimensions", {}) : std::vector<int64_t>();
    if (dimensions.size() != rank) {
      dimensions.clear();
      for (size_t i = 0; i < rank; ++i) dimensions.push_back(static_cast<int64_t>(sizes.size() - rank + i));
    }
    const ShapeRef shape = op.shapes().array(op.type(operand), sizes);
    alike.push_back(std::ranges::equal(op.shape(operand)->dimensions, sizes)
                        ? operand
                        : op.broadcast_in_dim(operand, dimensions, shape));
  }
  return alike;
}

std::span<const Row> chlo_rows() { return kChloRows; }
std::span<const Row> complex_function_rows() { return {}; }

}  // namespace hlosim::stablehlo
