#include "cpu_kernels/chain.h"

namespace hlosim {

ChainFn chain_kernel() {
  static const ChainFn run = HLOSIM_PICK_KERNELS(isa_level().value_or(supported_isa_level()), kChains).run;
  return run;
}

std::optional<ChainOp> chain_op(const ElementKernel& kernel, bool swapped) {
  struct Known {
    ElementFn fn;
    ChainOp op, swapped;
  };
  const auto fn = [](ElementOp op) { return element_kernel(op, ElementType::kF32, ElementType::kF32).fn; };
  static const Known known[] = {
      {fn(ElementOp::kAdd), ChainOp::kAdd, ChainOp::kAdd},
      {fn(ElementOp::kSubtract), ChainOp::kSubtract, ChainOp::kSubtractFrom},
      {fn(ElementOp::kMultiply), ChainOp::kMultiply, ChainOp::kMultiply},
      {fn(ElementOp::kDivide), ChainOp::kDivide, ChainOp::kDivideInto},
      {fn(ElementOp::kMaximum), ChainOp::kMaximum, ChainOp::kMaximumOf},
      {fn(ElementOp::kMinimum), ChainOp::kMinimum, ChainOp::kMinimumOf},
  };
  for (const Known& one : known)
    if (kernel.fn == one.fn) return swapped ? one.swapped : one.op;
  return std::nullopt;
}

}  // namespace hlosim
