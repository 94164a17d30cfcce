// Arithmetic operations of f32 after each other in one loop: the value stays in registers between them, and
// operands that are the same for all elements are read once.
//
//   const ChainLink links[] = {{b, ChainOp::kMultiply, false}, {&two, ChainOp::kAdd, true}};
//   chain_kernel()(out, a, links, 2, n, n);        // out[i] = a[i] * b[i] + two
#pragma once

#include <cstdint>
#include <optional>

#include "base/cpu.h"
#include "cpu_kernels/element.h"

namespace hlosim {

/// What becomes of the value v with operand a. Each rounds by itself, as the kernel of the operation does.
/// kMaximum is maximum(v, a), kMaximumOf is maximum(a, v): zeros of both signs and NaN tell them apart.
enum class ChainOp : uint8_t {
  kAdd,
  kSubtract,
  kSubtractFrom,
  kMultiply,
  kDivide,
  kDivideInto,
  kMaximum,
  kMaximumOf,
  kMinimum,
  kMinimumOf
};
inline constexpr int kChainOpCount = 10;

struct ChainLink {
  const float* operand;  // n elements, or one for each row
  ChainOp op;
  bool is_scalar;
};

/// out[i] = first[i], taken through `count` links, in rows of `row` elements (the last one may be shorter).
/// `out` may be the pointer of an operand of n elements; no other overlap.
using ChainFn = void (*)(float* out, const float* first, const ChainLink* links, int64_t count, int64_t n,
                         int64_t row);

struct ChainKernels {
  ChainFn run;
};
HLOSIM_KERNEL_TABLE(ChainKernels, kChains)

/// The kernel for this processor.
ChainFn chain_kernel();

/// The link that applies `kernel` to (v, a), or to (a, v) when `swapped`. Nullopt: none does.
std::optional<ChainOp> chain_op(const ElementKernel& kernel, bool swapped);

}  // namespace hlosim
