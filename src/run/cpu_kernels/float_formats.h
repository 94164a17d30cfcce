// Small float formats in terms of f32, as branch-free code that compilers turn into vector code.
//
//   encode<kBf16>(1.5f) == 0x3fc0     decode<kBf16>(0x3fc0) == 1.5f
//
// All types of at most 16 bits have their values among f32's: decode() is exact, encode() rounds once, to
// nearest even. For inclusion by kernels of any instruction set level, so everything here is local to the
// file that includes it.
#pragma once

#include <cstdint>

#include "layout/element_type.h"

namespace hlosim {
namespace {

/// What the codes beyond the largest finite value mean.
enum class Beyond : uint8_t {
  kIeee,          ///< infinity, then NaNs; overflow becomes infinity
  kNan,           ///< the code with all bits set is NaN; overflow and infinity become NaN
  kUnsignedZero,  ///< no -0: its code is NaN; overflow and infinity become NaN
  kFinite,  ///< nothing; overflow and infinity become the largest value, NaN a zero of the opposite sign
};

struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Beyond beyond = Beyond::kIeee;
};

constexpr FloatFormat kBf16{8, 7, 127};
constexpr FloatFormat kF16{5, 10, 15};
constexpr FloatFormat kF8E5M2{5, 2, 15};
constexpr FloatFormat kF8E4M3{4, 3, 7};
constexpr FloatFormat kF8E3M4{3, 4, 3};
constexpr FloatFormat kF8E4M3Fn{4, 3, 7, Beyond::kNan};
constexpr FloatFormat kF8E4M3Fnuz{4, 3, 8, Beyond::kUnsignedZero};
constexpr FloatFormat kF8E4M3B11Fnuz{4, 3, 11, Beyond::kUnsignedZero};
constexpr FloatFormat kF8E5M2Fnuz{5, 2, 16, Beyond::kUnsignedZero};
constexpr FloatFormat kF6E2M3{2, 3, 1, Beyond::kFinite};
constexpr FloatFormat kF6E3M2{3, 2, 3, Beyond::kFinite};
constexpr FloatFormat kF4E2M1{2, 1, 1, Beyond::kFinite};
/// Powers of two from 2^-127, and NaN: eight bits of exponent, no sign, no zero (which becomes NaN).
constexpr FloatFormat kF8E8M0{8, 0, 127, Beyond::kNan};

constexpr bool is_power_of_two_format(const FloatFormat& f) { return f.mantissa_bits == 0; }

template <const FloatFormat& F>
constexpr uint32_t kInfinityCode = ((1u << F.exponent_bits) - 1) << F.mantissa_bits;
template <const FloatFormat& F>
constexpr uint32_t kLargestCode = F.beyond == Beyond::kIeee ? kInfinityCode<F> - 1
                                  : F.beyond == Beyond::kNan
                                      ? (1u << (F.exponent_bits + F.mantissa_bits)) - 2
                                      : (1u << (F.exponent_bits + F.mantissa_bits)) - 1;

/// The value of the code `bits`.
template <const FloatFormat& F>
float decode(uint32_t bits) {
  constexpr int kMagnitudeBits = F.exponent_bits + F.mantissa_bits, kShift = 23 - F.mantissa_bits;
  constexpr uint32_t kSign = 1u << kMagnitudeBits;
  if constexpr (is_power_of_two_format(F)) {
    const uint32_t power = bits == 0 ? 0x00400000u : bits << 23;
    return __builtin_bit_cast(float, bits == 255 ? 0x7fc00000u : power);
  }
  const uint32_t magnitude = bits & (kSign - 1);
  const uint32_t sign = (bits & kSign) << (31 - kMagnitudeBits);
  uint32_t value = (magnitude << kShift) + (static_cast<uint32_t>(127 - F.bias) << 23);
  if constexpr (F.bias != 127) {
    // Subnormal codes count units of the smallest value: 2^(1 - bias - mantissa_bits).
    constexpr float kUnit =
        __builtin_bit_cast(float, static_cast<uint32_t>(128 - F.bias - F.mantissa_bits) << 23);
    const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * kUnit;
    value = magnitude >> F.mantissa_bits == 0 ? __builtin_bit_cast(uint32_t, subnormal) : value;
    if constexpr (F.beyond == Beyond::kIeee)
      value = magnitude >= kInfinityCode<F> ? 0x7f800000u | (magnitude << kShift & 0x007fffffu) : value;
    if constexpr (F.beyond == Beyond::kNan) value = magnitude > kLargestCode<F> ? 0x7fc00000u : value;
  }
  if constexpr (F.beyond == Beyond::kUnsignedZero)
    return __builtin_bit_cast(float, bits == kSign ? 0x7fc00000u : sign | value);
  return __builtin_bit_cast(float, sign | value);
}

/// The code of `x`, rounded to nearest even. NaN keeps its sign, not its payload.
template <const FloatFormat& F>
uint32_t encode(float x) {
  constexpr int kMagnitudeBits = F.exponent_bits + F.mantissa_bits, kShift = 23 - F.mantissa_bits;
  const uint32_t bits = __builtin_bit_cast(uint32_t, x), magnitude = bits & 0x7fffffffu;
  if constexpr (is_power_of_two_format(F)) {
    // Halfway between two powers is the larger one. The smallest, 2^-127, is an f32 subnormal, 2^22 units:
    // all up to one and a half of it are nearest to it. There is no zero.
    const uint32_t power = magnitude < 0x00600000u ? 0u : (magnitude + 0x00400000u) >> 23;
    return power > 254 || bits - 1 >= 0x7fffffffu ? 255u : power;
  }
  const uint32_t sign = (bits >> 31) << kMagnitudeBits;
  uint32_t code = (magnitude + ((1u << (kShift - 1)) - 1) + (magnitude >> kShift & 1)) >> kShift;
  if constexpr (F.bias != 127) {
    code -= static_cast<uint32_t>(127 - F.bias) << F.mantissa_bits;
    // Adding a number whose last place is worth one unit rounds to units.
    constexpr uint32_t kRounder = static_cast<uint32_t>(128 - F.bias - F.mantissa_bits + 23) << 23;
    const float shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, kRounder);
    const uint32_t units = __builtin_bit_cast(uint32_t, shifted) - kRounder;
    code = magnitude < static_cast<uint32_t>(128 - F.bias) << 23 ? units : code;
  }
  const bool nan = magnitude > 0x7f800000u;
  if constexpr (F.beyond == Beyond::kIeee) {
    // With the exponents of f32 nothing but NaN comes out above infinity.
    if constexpr (F.bias != 127) code = code > kInfinityCode<F> ? kInfinityCode<F> : code;
    code = nan ? kInfinityCode<F> | 1u << (F.mantissa_bits - 1) : code;
    return sign | code;
  } else if constexpr (F.beyond == Beyond::kNan) {
    return sign | (nan || code > kLargestCode<F> ? kLargestCode<F> + 1 : code);
  } else if constexpr (F.beyond == Beyond::kUnsignedZero) {
    const uint32_t finite = code == 0 ? 0 : sign | code;
    return nan || code > kLargestCode<F> ? 1u << kMagnitudeBits : finite;
  } else {
    const uint32_t finite = sign | (code > kLargestCode<F> ? kLargestCode<F> : code);
    return nan ? sign ^ 1u << kMagnitudeBits : finite;
  }
}

}  // namespace
}  // namespace hlosim
