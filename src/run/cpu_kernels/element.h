// Kernels that compute element i of the result from element i of each operand.
//
//   const ElementKernel add = element_kernel(ElementOp::kAdd, ElementType::kF32, ElementType::kF32);
//   const void* operands[] = {a, b};
//   add.fn(out, operands, add.immediate, n);
//
// Arrays are dense, one element per byte_width(type) bytes: sub-byte integers sign- or zero-extended in a
// byte, 4- and 6-bit floats in the low bits of a byte, pred 0 or 1, complex numbers as (re, im).
//
// How numbers behave: integers wrap; 16-bit and smaller floats compute in f32 and round once to nearest even;
// f32 and f64 round after every operation. Results are the same on every instruction set level, for any
// n and any way to cut an array into pieces, but for the sign and payload of NaN, which arithmetic doesn't
// keep.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "layout/element_op.h"
#include "layout/element_type.h"

namespace hlosim {

/// Computes `n` result elements from `n` elements of each operand. `out` may be the pointer of an operand
/// whose elements are at least as wide as the result's; no other overlap. Requires: n ≥ 0.
using ElementFn = void (*)(void* out, const void* const in[], uint64_t immediate, int64_t n);

struct ElementKernel {
  ElementFn fn = nullptr;
  uint64_t immediate = 0;  ///< to be handed to fn as it is

  explicit operator bool() const { return fn != nullptr; }
};

/// The immediate of kReducePrecision.
constexpr uint64_t reduce_precision_immediate(int64_t exponent_bits, int64_t mantissa_bits) {
  const auto capped = [](int64_t bits) { return static_cast<uint64_t>(bits < 255 ? bits : 255); };
  return capped(exponent_bits) | capped(mantissa_bits) << 8;
}

/// The kernel for operands of type `operand` and results of type `result`, at the level isa_level() (the
/// processor's own when the environment asks for the impossible). Without fn when `op` isn't defined for the
/// types. `immediate` is that of kReducePrecision.
ElementKernel element_kernel(ElementOp op, ElementType operand, ElementType result, uint64_t immediate = 0);

/// The same of a given level, which the machine must support.
ElementKernel element_kernel(IsaLevel level, ElementOp op, ElementType operand, ElementType result,
                             uint64_t immediate = 0);

/// The same for operands of several float types (HLO's mixed precision): those of another type than
/// `computed` are converted to it first. `operands`: operand_count(op) types; of kSelect the first is pred.
ElementKernel mixed_element_kernel(ElementOp op, std::span<const ElementType> operands, ElementType computed,
                                   ElementType result);

}  // namespace hlosim
