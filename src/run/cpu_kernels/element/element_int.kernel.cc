// Integers of 8 to 64 bits, pred, and what depends on the width alone (select).
#include "cpu_kernels/element/element_functors.h"
#include "cpu_kernels/element/element_loops.h"

namespace hlosim::HLOSIM_ISA {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

/// The unsigned type of T's width, the types that hold any product of two T, and the type in which sums and
/// products of T wrap without harm.
template <class T>
struct Width;
template <>
struct Width<int8_t> {
  using Unsigned = uint8_t;
  using Double = int32_t;
};
template <>
struct Width<int16_t> {
  using Unsigned = uint16_t;
  using Double = int32_t;
};
template <>
struct Width<int32_t> {
  using Unsigned = uint32_t;
  using Double = int64_t;
};
template <>
struct Width<int64_t> {
  using Unsigned = uint64_t;
  using Double = Int128;
};
template <>
struct Width<uint8_t> {
  using Unsigned = uint8_t;
  using Double = uint32_t;
};
template <>
struct Width<uint16_t> {
  using Unsigned = uint16_t;
  using Double = uint32_t;
};
template <>
struct Width<uint32_t> {
  using Unsigned = uint32_t;
  using Double = uint64_t;
};
template <>
struct Width<uint64_t> {
  using Unsigned = uint64_t;
  using Double = Uint128;
};
template <class T>
using Unsigned = typename Width<T>::Unsigned;
template <class T>
constexpr int kBits = 8 * sizeof(T);
template <class T>
constexpr bool kSigned = T(-1) < T(0);

/// unsigned int or wider: arithmetic on narrower types would happen in int.
template <class T>
auto wide(T x) {
  return Unsigned<T>(x) + 0u;
}

// ── one operand ─────────────────────────────────────────────────

struct NegateInt {
  template <class T>
  static T of(T x) {
    return static_cast<T>(0u - wide(x));
  }
};
struct AbsInt {
  template <class T>
  static T of(T x) {
    return x < T{0} ? NegateInt::of(x) : x;
  }
};
struct SignInt {
  template <class T>
  static T of(T x) {
    return static_cast<T>((x > T{0}) - (x < T{0}));
  }
};
struct Not {
  template <class T>
  static T of(T x) {
    return static_cast<T>(~wide(x));
  }
};
struct PopulationCount {
  template <class T>
  static T of(T x) {
    // Neighbours are added in fields of 2, 4, … bits.
    uint64_t v = Unsigned<T>(x);
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    v += v >> 8;
    v += v >> 16;
    v += v >> 32;
    return static_cast<T>(v & 127);
  }
};
struct CountLeadingZeros {
  template <class T>
  static T of(T x) {
    Unsigned<T> v = static_cast<Unsigned<T>>(x);
    for (int shift = 1; shift < kBits<T>; shift *= 2) v = static_cast<Unsigned<T>>(v | v >> shift);
    return static_cast<T>(kBits<T> - PopulationCount::of(v));
  }
};

// ── two operands ────────────────────────────────────────────────

struct AddInt {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(wide(x) + wide(y));
  }
};
struct SubtractInt {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(wide(x) - wide(y));
  }
};
struct MultiplyInt {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(wide(x) * wide(y));
  }
};

/// Quotient truncated toward zero; all ones (so -1) of a division by zero; wraps for the smallest by -1.
struct DivideInt {
  template <class T>
  static T of(T x, T y) {
    if constexpr (kBits<T> == 64) {
      if (y == T{0}) return static_cast<T>(-1);
      if (kSigned<T> && y == static_cast<T>(-1)) return NegateInt::of(x);
      return static_cast<T>(x / y);
    } else {
      // The quotient of f64 is wrong by less than the distance of x/y to the next integer, 1/|y|.
      const double quotient =
          __builtin_trunc(static_cast<double>(x) / static_cast<double>(y == T{0} ? T{1} : y));
      // Added to this the integer stands in the low bits.
      const T low = static_cast<T>(__builtin_bit_cast(uint64_t, quotient + 0x1.8p52));
      return y == T{0} ? static_cast<T>(-1) : low;
    }
  }
};
/// x - (x/y) y, wrapping, which is x for y = 0.
struct RemainderInt {
  template <class T>
  static T of(T x, T y) {
    return SubtractInt::of(x, MultiplyInt::of(DivideInt::of(x, y), y));
  }
};
/// Of a negative exponent 1 for base 1, else 0.
struct PowerInt {
  template <class T>
  static T of(T x, T y) {
    if (y < T{0}) return x == T{1};
    T result{1}, square = x;
    for (Unsigned<T> exponent = static_cast<Unsigned<T>>(y); exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) result = MultiplyInt::of(result, square);
      square = MultiplyInt::of(square, square);
    }
    return result;
  }
};
struct And {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct Or {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct Xor {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};
struct ShiftLeft {
  template <class T>
  static T of(T x, T y) {
    const auto amount = Unsigned<T>(y);
    return amount < kBits<T> ? static_cast<T>(wide(x) << (amount & (kBits<T> - 1))) : T{0};
  }
};
struct ShiftRightLogical {
  template <class T>
  static T of(T x, T y) {
    const auto amount = Unsigned<T>(y);
    return amount < kBits<T> ? static_cast<T>(wide(x) >> (amount & (kBits<T> - 1))) : T{0};
  }
};
/// Also of an unsigned value the top bit is taken for a sign.
struct ShiftRightArithmetic {
  template <class T>
  static T of(T x, T y) {
    const auto amount = Unsigned<T>(y);
    const int last = kBits<T> - 1;
    const auto sign = static_cast<decltype(wide(x))>(-(wide(x) >> last));
    const auto used = amount < kBits<T> ? amount : static_cast<Unsigned<T>>(last);
    // Bits that come in from the left are copies of the sign.
    return static_cast<T>((static_cast<Unsigned<T>>(wide(x) ^ sign) >> used) ^ sign);
  }
};
struct MulHigh {
  template <class T>
  static T of(T x, T y) {
    using Double = typename Width<T>::Double;
    return static_cast<T>(static_cast<Double>(x) * static_cast<Double>(y) >> kBits<T>);
  }
};

template <class T>
constexpr ElementTable comparisons() {
  ElementTable t;
  t[ElementOp::kEqual] = binary<Equal, T, uint8_t>;
  t[ElementOp::kNotEqual] = binary<NotEqual, T, uint8_t>;
  t[ElementOp::kLess] = binary<Less, T, uint8_t>;
  t[ElementOp::kLessEqual] = binary<LessEqual, T, uint8_t>;
  t[ElementOp::kGreater] = binary<Greater, T, uint8_t>;
  t[ElementOp::kGreaterEqual] = binary<GreaterEqual, T, uint8_t>;
  t[ElementOp::kMaximum] = binary<Maximum, T>;
  t[ElementOp::kMinimum] = binary<Minimum, T>;
  t[ElementOp::kClamp] = ternary<Clamp, T>;
  return t;
}

/// What is the same for signed and unsigned integers.
template <class T>
constexpr ElementTable table() {
  ElementTable t = comparisons<T>();
  using U = Unsigned<T>;
  t[ElementOp::kAbs] = unary<AbsInt, T>;
  t[ElementOp::kSign] = unary<SignInt, T>;
  t[ElementOp::kNegate] = unary<NegateInt, U>;
  t[ElementOp::kNot] = unary<Not, U>;
  t[ElementOp::kPopulationCount] = unary<PopulationCount, U>;
  t[ElementOp::kCountLeadingZeros] = unary<CountLeadingZeros, U>;
  t[ElementOp::kAdd] = binary<AddInt, U>;
  t[ElementOp::kSubtract] = binary<SubtractInt, U>;
  t[ElementOp::kMultiply] = binary<MultiplyInt, U>;
  t[ElementOp::kDivide] = binary<DivideInt, T>;
  t[ElementOp::kRemainder] = binary<RemainderInt, T>;
  t[ElementOp::kPower] = binary<PowerInt, T>;
  t[ElementOp::kAnd] = binary<And, U>;
  t[ElementOp::kOr] = binary<Or, U>;
  t[ElementOp::kXor] = binary<Xor, U>;
  t[ElementOp::kShiftLeft] = binary<ShiftLeft, U>;
  t[ElementOp::kShiftRightLogical] = binary<ShiftRightLogical, U>;
  t[ElementOp::kShiftRightArithmetic] = binary<ShiftRightArithmetic, U>;
  t[ElementOp::kMulhi] = binary<MulHigh, T>;
  return t;
}

// ── pred ────────────────────────────────────────────────────────
// Arithmetic is that of s8, of which pred says whether the result is not zero.

struct NotPred {
  static uint8_t of(uint8_t x) { return x == 0; }
};
struct OrNot {
  static uint8_t of(uint8_t x, uint8_t y) { return x | (y ^ 1); }
};
struct AndNot {
  static uint8_t of(uint8_t x, uint8_t y) { return x & (y ^ 1); }
};
constexpr ElementTable pred_table() {
  ElementTable t = comparisons<uint8_t>();
  t[ElementOp::kNot] = unary<NotPred, uint8_t>;
  t[ElementOp::kAdd] = binary<Or, uint8_t>;
  t[ElementOp::kSubtract] = binary<Xor, uint8_t>;
  t[ElementOp::kMultiply] = binary<And, uint8_t>;
  t[ElementOp::kDivide] = binary<OrNot, uint8_t>;
  t[ElementOp::kRemainder] = binary<AndNot, uint8_t>;
  t[ElementOp::kPower] = binary<OrNot, uint8_t>;
  t[ElementOp::kAnd] = binary<And, uint8_t>;
  t[ElementOp::kOr] = binary<Or, uint8_t>;
  t[ElementOp::kXor] = binary<Xor, uint8_t>;
  return t;
}

// ── select ──────────────────────────────────────────────────────

template <class T>
void select(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<T>*>(out);
  const auto* const predicate = operand<uint8_t>(in[0]);
  const auto* const on_true = operand<T>(in[1]);
  const auto* const on_false = operand<T>(in[2]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = on_true[i], y = on_false[i];
    o[i] = predicate[i] != 0 ? x : y;
  }
}

/// Of 16 bytes, which may lie at any multiple of 8.
void select_pairs(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<uint64_t>*>(out);
  const auto* const predicate = operand<uint8_t>(in[0]);
  const auto* const on_true = operand<uint64_t>(in[1]);
  const auto* const on_false = operand<uint64_t>(in[2]);
  for (int64_t i = 0; i < n; ++i) {
    const auto* const chosen = predicate[i] != 0 ? on_true : on_false;
    o[2 * i] = chosen[2 * i];
    o[2 * i + 1] = chosen[2 * i + 1];
  }
}

}  // namespace

constexpr ElementTable kS8Elements = table<int8_t>();
constexpr ElementTable kS16Elements = table<int16_t>();
constexpr ElementTable kS32Elements = table<int32_t>();
constexpr ElementTable kS64Elements = table<int64_t>();
constexpr ElementTable kU8Elements = table<uint8_t>();
constexpr ElementTable kU16Elements = table<uint16_t>();
constexpr ElementTable kU32Elements = table<uint32_t>();
constexpr ElementTable kU64Elements = table<uint64_t>();
constexpr ElementTable kPredElements = pred_table();

constexpr SelectTable kSelect = {
    {select<uint8_t>, select<uint16_t>, select<uint32_t>, select<uint64_t>, select_pairs}};

}  // namespace hlosim::HLOSIM_ISA
