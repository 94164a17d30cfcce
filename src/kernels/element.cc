#include "kernels/element.h"

#include "kernels/element_tables.h"

namespace hlosim {
namespace {

/// The type of results when operands are of type `operand`.
ElementType usual_result(ElementOp op, ElementType operand) {
  if (op == ElementOp::kIsFinite || (op >= ElementOp::kEqual && op <= ElementOp::kTotalGreaterEqual))
    return ElementType::kPred;
  return operand;
}

}  // namespace

ElementKernel element_kernel(IsaLevel level, ElementOp op, ElementType operand, ElementType result,
                             uint64_t immediate) {
  if (result != usual_result(op, operand)) return {};
  switch (operand) {
    case ElementType::kF32: {
      const ElementFn fn = HLOSIM_PICK_KERNELS(level, kF32Elements)[op];
      return {fn != nullptr ? fn : HLOSIM_PICK_KERNELS(level, kF32Functions)[op], immediate};
    }
    case ElementType::kF64: return {HLOSIM_PICK_KERNELS(level, kF64Elements)[op], immediate};
    default: return {};
  }
}

ElementKernel element_kernel(ElementOp op, ElementType operand, ElementType result, uint64_t immediate) {
  static const IsaLevel level = isa_level().value_or(supported_isa_level());
  return element_kernel(level, op, operand, result, immediate);
}

}  // namespace hlosim
