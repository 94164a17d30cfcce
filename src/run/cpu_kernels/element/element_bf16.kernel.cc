// What bf16 is used for most, in one loop each: the detour by way of arrays of f32 takes two to three times
// as long.
#include "cpu_kernels/element/element_functors.h"
#include "cpu_kernels/element/element_loops.h"
#include "cpu_kernels/float_formats.h"

namespace hlosim::HLOSIM_ISA {
namespace {

namespace bf16 {
struct Negate {
  static uint16_t of(uint16_t x) { return x ^ 0x8000; }
};
struct Abs {
  static uint16_t of(uint16_t x) { return x & 0x7fff; }
};

// One of the operands as it is. A comparison with NaN is false.
struct Maximum {
  static uint16_t of(uint16_t x, uint16_t y) {
    const float a = decode<kBf16>(x), b = decode<kBf16>(y);
    return ((a == a) & !(b <= a)) ? y : x;
  }
};
struct Minimum {
  static uint16_t of(uint16_t x, uint16_t y) {
    const float a = decode<kBf16>(x), b = decode<kBf16>(y);
    return ((a == a) & !(b >= a)) ? y : x;
  }
};
}  // namespace bf16

/// F of f32, rounded.
template <class F>
struct Rounded {
  template <class... T>
  static uint16_t of(T... x) {
    return static_cast<uint16_t>(encode<kBf16>(F::of(decode<kBf16>(x)...)));
  }
};
/// F of f32.
template <class F>
struct OfDecoded {
  template <class... T>
  static bool of(T... x) {
    return F::of(decode<kBf16>(x)...);
  }
};

constexpr ElementTable table() {
  ElementTable t;
  t[ElementOp::kNegate] = unary<bf16::Negate, uint16_t>;
  t[ElementOp::kAbs] = unary<bf16::Abs, uint16_t>;
  t[ElementOp::kAdd] = binary<Rounded<Add>, uint16_t>;
  t[ElementOp::kSubtract] = binary<Rounded<Subtract>, uint16_t>;
  t[ElementOp::kMultiply] = binary<Rounded<Multiply>, uint16_t>;
  t[ElementOp::kDivide] = binary<Rounded<Divide>, uint16_t>;
  t[ElementOp::kMaximum] = binary<bf16::Maximum, uint16_t>;
  t[ElementOp::kMinimum] = binary<bf16::Minimum, uint16_t>;
  t[ElementOp::kEqual] = binary<OfDecoded<Equal>, uint16_t, uint8_t>;
  t[ElementOp::kNotEqual] = binary<OfDecoded<NotEqual>, uint16_t, uint8_t>;
  t[ElementOp::kLess] = binary<OfDecoded<Less>, uint16_t, uint8_t>;
  t[ElementOp::kLessEqual] = binary<OfDecoded<LessEqual>, uint16_t, uint8_t>;
  t[ElementOp::kGreater] = binary<OfDecoded<Greater>, uint16_t, uint8_t>;
  t[ElementOp::kGreaterEqual] = binary<OfDecoded<GreaterEqual>, uint16_t, uint8_t>;
  return t;
}

}  // namespace

constexpr ElementTable kBf16Elements = table();

}  // namespace hlosim::HLOSIM_ISA
