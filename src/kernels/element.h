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
#include "layout/element_type.h"

namespace hlosim {

/// What a kernel computes. In brackets: the operand types → the result type, where they aren't all the same.
enum class ElementOp : uint8_t {
  // One operand.
  kCopy,  ///< the bits of any type [T → U of the same byte width]
  kAbs,   ///< of the smallest signed integer: itself [complex → its float]
  kNegate,
  kSign,  ///< NaN and zeros stay; of complex x: x/|x|, 0 of 0
  kNot,
  kPopulationCount,
  kCountLeadingZeros,
  kCeil,
  kFloor,
  kRoundAwayFromZero,  ///< to the nearest integer, halves away from zero
  kRoundToEven,        ///< to the nearest integer, halves to even
  kIsFinite,           ///< [float → pred]
  kReal,               ///< [complex → its float, or float → itself]
  kImag,               ///< 0 of a float [as kReal]
  kExp,
  kExpMinusOne,
  kLog,
  kLogPlusOne,
  kLogistic,  ///< 1 / (1 + exp(-x))
  kErf,
  kSqrt,
  kRsqrt,
  kCbrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kConvert,          ///< saturates from float to integer, NaN → 0; cuts bits between integers [any → any]
  kReducePrecision,  ///< to reduce_precision_immediate() [IEEE-like floats]

  // Two operands.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,     ///< integers truncate; x/0 is -1 (all ones); smallest/-1 is the smallest
  kRemainder,  ///< has the sign of the dividend; x%0 is x
  kPower,
  kAtan2,
  kMaximum,  ///< NaN of either operand is the result
  kMinimum,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,  ///< amounts are unsigned; from the width on all bits are shifted out
  kShiftRightLogical,
  kShiftRightArithmetic,
  kMulhi,    ///< high half of the product of twice the width
  kComplex,  ///< (re, im) [f32 → c64, f64 → c128]
  kEqual,    ///< comparisons: of NaN false, but for kNotEqual; -0 = +0 [T → pred]
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kTotalEqual,  ///< total order of floats: -NaN < -inf < … < -0 < +0 < … < inf < NaN [float → pred]
  kTotalNotEqual,
  kTotalLess,
  kTotalLessEqual,
  kTotalGreater,
  kTotalGreaterEqual,
  kStochasticConvert,  ///< (value, random bits as unsigned integer of the value's width) [float → signed
                       ///< integer]

  // Three operands.
  kSelect,  ///< (predicate, on true, on false); `operand` is the type of the values
  kClamp,   ///< (low, x, high): min(max(x, low), high)
};
inline constexpr int kElementOpCount = static_cast<int>(ElementOp::kClamp) + 1;

/// Operands that `op` takes: 1, 2 or 3.
constexpr int operand_count(ElementOp op) {
  return op < ElementOp::kAdd ? 1 : op < ElementOp::kSelect ? 2 : 3;
}

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
