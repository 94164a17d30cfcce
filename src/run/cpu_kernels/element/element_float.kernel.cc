// f32 and f64: what the processor has an instruction for, and what is done on the bits.
#include "cpu_kernels/element/element_functors.h"
#include "cpu_kernels/element/element_loops.h"

namespace hlosim::HLOSIM_ISA {
namespace {

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Unsigned = uint32_t;
  using Signed = int32_t;
  static constexpr int kMantissa = 23, kExponent = 8;
};
template <>
struct Bits<double> {
  using Unsigned = uint64_t;
  using Signed = int64_t;
  static constexpr int kMantissa = 52, kExponent = 11;
};

template <class T>
typename Bits<T>::Unsigned bits_of(T x) {
  return __builtin_bit_cast(typename Bits<T>::Unsigned, x);
}
template <class T>
T from_bits(typename Bits<T>::Unsigned bits) {
  return __builtin_bit_cast(T, bits);
}
template <class T>
constexpr typename Bits<T>::Unsigned kSignBit = typename Bits<T>::Unsigned{1} << (8 * sizeof(T) - 1);

/// `magnitude` with the sign of `sign`; magnitude is not negative, or is already of that sign.
template <class T>
T with_sign(T magnitude, T sign) {
  return from_bits<T>((bits_of(magnitude) & ~kSignBit<T>) | (bits_of(sign) & kSignBit<T>));
}

/// Integers in the total order of floats: negative ones in reverse.
template <class T>
typename Bits<T>::Signed total_order(T x) {
  using Signed = typename Bits<T>::Signed;
  const Signed bits = static_cast<Signed>(bits_of(x));
  const Signed sign = bits >> (8 * sizeof(T) - 1);
  return bits ^ static_cast<Signed>(static_cast<typename Bits<T>::Unsigned>(sign) >> 1);
}

float square_root(float x) { return __builtin_sqrtf(x); }
double square_root(double x) { return __builtin_sqrt(x); }
float truncated(float x) { return __builtin_truncf(x); }
double truncated(double x) { return __builtin_trunc(x); }

// ── one operand ─────────────────────────────────────────────────

struct Abs {
  template <class T>
  static T of(T x) {
    return from_bits<T>(bits_of(x) & ~kSignBit<T>);
  }
};
struct Negate {
  template <class T>
  static T of(T x) {
    return from_bits<T>(bits_of(x) ^ kSignBit<T>);
  }
};
struct Sign {
  template <class T>
  static T of(T x) {
    return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  }
};
struct Ceil {
  static float of(float x) { return __builtin_ceilf(x); }
  static double of(double x) { return __builtin_ceil(x); }
};
struct Floor {
  static float of(float x) { return __builtin_floorf(x); }
  static double of(double x) { return __builtin_floor(x); }
};
struct RoundToEven {
  static float of(float x) { return __builtin_rintf(x); }
  static double of(double x) { return __builtin_rint(x); }
};
struct RoundAwayFromZero {
  template <class T>
  static T of(T x) {
    const T whole = truncated(x);
    const T rest = Abs::of(x - whole);  // exact
    // From 2^52 (2^23) on whole is x, and NaN stays NaN.
    return with_sign(rest >= T(0.5) ? Abs::of(whole) + T{1} : whole, x);
  }
};
struct IsFinite {
  template <class T>
  static bool of(T x) {
    return (bits_of(x) & ~kSignBit<T>) < bits_of(static_cast<T>(__builtin_inf()));
  }
};
struct Same {
  template <class T>
  static T of(T x) {
    return x;
  }
};
struct Zero {
  template <class T>
  static T of(T) {
    return T{0};
  }
};
struct Sqrt {
  template <class T>
  static T of(T x) {
    return square_root(x);
  }
};
struct Rsqrt {
  template <class T>
  static T of(T x) {
    return T{1} / square_root(x);
  }
};

/// Rounds to fewer exponent and mantissa bits: first the mantissa, to nearest even, then exponents too large
/// become infinity and those too small zero. With no mantissa bits NaN becomes infinity too. The bits are a
/// sign, kExponent and kMantissa bits; subnormals are rounded at the same place as other numbers.
template <class Unsigned, int kExponent, int kMantissa>
void reduce_precision(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const int exponent_bits = static_cast<int>(immediate & 255),
            mantissa_bits = static_cast<int>(immediate >> 8);
  const bool cut = mantissa_bits < kMantissa, narrow = exponent_bits < kExponent;
  const int dropped = cut ? kMantissa - mantissa_bits : 0;
  using Wide = decltype(Unsigned{} + 0u);
  const Wide last = Wide{1} << dropped, half = cut ? (last >> 1) - 1 : 0, odd = cut ? 1 : 0;
  const Wide bias = (Wide{1} << (kExponent - 1)) - 1;
  const Wide small_bias = narrow ? (Wide{1} << (exponent_bits - 1)) - 1 : 0;
  constexpr Wide kInfinity = ((Wide{1} << kExponent) - 1) << kMantissa,
                 kSign = Wide{1} << (kExponent + kMantissa);
  const Wide above = narrow ? (bias + small_bias + 1) << kMantissa : kInfinity;
  const Wide below = narrow ? (bias - small_bias + 1) << kMantissa : 0;
  const bool keeps_nan = mantissa_bits > 0;
  auto* const o = static_cast<Stored<Unsigned>*>(out);
  const auto* const a = operand<Unsigned>(in[0]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const Wide bits = a[i], sign = bits & kSign, magnitude = bits ^ sign;
    Wide rounded = (magnitude + half + (magnitude >> dropped & odd)) & ~(last - 1);
    rounded = rounded >= above ? kInfinity : rounded < below ? 0 : rounded;
    const Wide nan = keeps_nan ? magnitude : kInfinity;
    o[i] = static_cast<Unsigned>(sign | (magnitude > kInfinity ? nan : rounded));
  }
}

// ── two operands ────────────────────────────────────────────────

template <class Compare>
struct Total {
  template <class T>
  static bool of(T x, T y) {
    return Compare::of(total_order(x), total_order(y));
  }
};

template <class T>
constexpr ElementTable table() {
  ElementTable t;
  t[ElementOp::kAbs] = unary<Abs, T>;
  t[ElementOp::kNegate] = unary<Negate, T>;
  t[ElementOp::kSign] = unary<Sign, T>;
  t[ElementOp::kCeil] = unary<Ceil, T>;
  t[ElementOp::kFloor] = unary<Floor, T>;
  t[ElementOp::kRoundAwayFromZero] = unary<RoundAwayFromZero, T>;
  t[ElementOp::kRoundToEven] = unary<RoundToEven, T>;
  t[ElementOp::kIsFinite] = unary<IsFinite, T, uint8_t>;
  t[ElementOp::kReal] = unary<Same, T>;
  t[ElementOp::kImag] = unary<Zero, T>;
  t[ElementOp::kSqrt] = unary<Sqrt, T>;
  t[ElementOp::kRsqrt] = unary<Rsqrt, T>;
  t[ElementOp::kReducePrecision] =
      reduce_precision<typename Bits<T>::Unsigned, Bits<T>::kExponent, Bits<T>::kMantissa>;
  t[ElementOp::kAdd] = binary<Add, T>;
  t[ElementOp::kSubtract] = binary<Subtract, T>;
  t[ElementOp::kMultiply] = binary<Multiply, T>;
  t[ElementOp::kDivide] = binary<Divide, T>;
  t[ElementOp::kMaximum] = binary<Maximum, T>;
  t[ElementOp::kMinimum] = binary<Minimum, T>;
  t[ElementOp::kEqual] = binary<Equal, T, uint8_t>;
  t[ElementOp::kNotEqual] = binary<NotEqual, T, uint8_t>;
  t[ElementOp::kLess] = binary<Less, T, uint8_t>;
  t[ElementOp::kLessEqual] = binary<LessEqual, T, uint8_t>;
  t[ElementOp::kGreater] = binary<Greater, T, uint8_t>;
  t[ElementOp::kGreaterEqual] = binary<GreaterEqual, T, uint8_t>;
  t[ElementOp::kTotalEqual] = binary<Total<Equal>, T, uint8_t>;
  t[ElementOp::kTotalNotEqual] = binary<Total<NotEqual>, T, uint8_t>;
  t[ElementOp::kTotalLess] = binary<Total<Less>, T, uint8_t>;
  t[ElementOp::kTotalLessEqual] = binary<Total<LessEqual>, T, uint8_t>;
  t[ElementOp::kTotalGreater] = binary<Total<Greater>, T, uint8_t>;
  t[ElementOp::kTotalGreaterEqual] = binary<Total<GreaterEqual>, T, uint8_t>;
  t[ElementOp::kClamp] = ternary<Clamp, T>;
  return t;
}

}  // namespace

constexpr ElementTable kF32Elements = table<float>();
constexpr ElementTable kF64Elements = table<double>();
constexpr ReducePrecisionTable kReducePrecision = {
    .f16 = reduce_precision<uint16_t, 5, 10>,
    .bf16 = reduce_precision<uint16_t, 8, 7>,
    .f8e5m2 = reduce_precision<uint8_t, 5, 2>,
    .f8e4m3 = reduce_precision<uint8_t, 4, 3>,
    .f8e3m4 = reduce_precision<uint8_t, 3, 4>,
};

}  // namespace hlosim::HLOSIM_ISA
