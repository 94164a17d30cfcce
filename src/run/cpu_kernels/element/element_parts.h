// The parts of element_kernel() that exist once, not per instruction set level.
#pragma once

#include "cpu_kernels/element/element_tables.h"

namespace hlosim {

/// Functions of f64 → f64 for which there is no instruction.
ElementFn f64_function(ElementOp op);

/// Operations on complex numbers; conversions excepted.
ElementFn complex_kernel(ElementOp op, ElementType operand, ElementType result);
/// Conversions from or to complex numbers, by way of the conversion of their parts.
ElementKernel complex_conversion(IsaLevel level, ElementType operand, ElementType result);

constexpr bool is_comparison(ElementOp op) {
  return op >= ElementOp::kEqual && op <= ElementOp::kTotalGreaterEqual;
}

/// Operations on integers of less than 8 bits, by way of those on bytes.
ElementKernel narrow_kernel(IsaLevel level, ElementOp op, ElementType operand);
/// Conversions to integers of less than 8 bits from any type that isn't complex.
ElementKernel narrow_conversion(IsaLevel level, ElementType operand, ElementType result);

ElementKernel stochastic_convert_kernel(IsaLevel level, ElementType operand, ElementType result);

/// Three small numbers in an immediate.
struct Packed {
  uint8_t first, second;
  IsaLevel level;

  template <class A, class B>
  static uint64_t pack(A first, B second, IsaLevel level) {
    return static_cast<uint64_t>(first) | static_cast<uint64_t>(second) << 8 |
           static_cast<uint64_t>(level) << 16;
  }
  explicit Packed(uint64_t immediate)
      : first(static_cast<uint8_t>(immediate)),
        second(static_cast<uint8_t>(immediate >> 8)),
        level(static_cast<IsaLevel>(immediate >> 16)) {}
};

}  // namespace hlosim
