#include "elementwise/element_kernels.h"

#include <array>

#include "ops/infer.h"

namespace hlosim {
namespace {

/// The kernel of `kernel_op` for op's operands and result. `first` is the first operand of values: before it
/// there may be a predicate. Floats of several types are computed with in the widest,
/// and in f32 at least.
ElementKernel kernel_of(const OpContext& op, ElementOp kernel_op, size_t first = 0) {
  std::array<ElementType, 3> types{};
  const auto count = static_cast<size_t>(op.operand_count());
  for (size_t i = 0; i < count; ++i) types[i] = op.operand_shape(static_cast<int64_t>(i))->element_type;
  ElementType computed = types[first];
  bool mixed = false;
  for (size_t i = first + 1; i < count; ++i) {
    mixed |= types[i] != types[first];
    computed = higher_precision(computed, types[i]);
  }
  // Two types of which neither holds the other's numbers.
  if (mixed && is_float(computed) && byte_width(computed) < 4) computed = ElementType::kF32;
  const ElementType result = op.shape()->element_type;
  return mixed ? mixed_element_kernel(kernel_op, std::span(types).first(count), computed, result)
               : element_kernel(kernel_op, computed, result);
}

}  // namespace

ElementKernel elementwise_kernel(const OpContext& op) {
  const std::optional<ElementOp> kernel_op = op.def().element(op);
  if (!kernel_op) return {};
  const ElementType operand = op.operand_shape(0)->element_type, result = op.shape()->element_type;
  if (*kernel_op == ElementOp::kReducePrecision)
    return element_kernel(
        *kernel_op, operand, result,
        reduce_precision_immediate(op.integer(AttrKey::kExponentBits), op.integer(AttrKey::kMantissaBits)));
  if (*kernel_op == ElementOp::kStochasticConvert) return element_kernel(*kernel_op, operand, result);
  return kernel_of(op, *kernel_op, *kernel_op == ElementOp::kSelect ? 1 : 0);
}

}  // namespace hlosim
