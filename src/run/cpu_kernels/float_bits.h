// Floats of 16 bits, one at a time, in plain integer arithmetic. For *.kernel.cc only.
#pragma once

#include <cstdint>

#ifndef HLOSIM_ISA
#define HLOSIM_ISA isa_v2
#endif

namespace hlosim::HLOSIM_ISA {
namespace {

inline float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float f32_of_bf16(uint16_t bits) { return float_of(uint32_t{bits} << 16); }

// Nearest, ties to even; NaN stays NaN.
inline uint16_t bf16_of_f32(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t nan = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline float f32_of_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t rest = bits & 0x7fffu;
  // Exponents move by 127 - 15; the multiplication does it for subnormals too.
  const float magnitude = float_of(rest << 13) * float_of(0x77800000);  // · 2^112
  const uint32_t special = 0x7f800000 | rest << 13;
  const uint32_t finite = bits_of(magnitude);
  return float_of(sign | (rest >= 0x7c00 ? special : finite));
}

// Nearest, ties to even; beyond the range infinity.
inline uint16_t f16_of_f32(float value) {
  const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  // Subnormal: adding 1/2 leaves the multiple of 2^-24 in the low bits, rounded by the addition.
  const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? 0x7e00 : result;
  return static_cast<uint16_t>(sign | result);
}

}  // namespace
}  // namespace hlosim::HLOSIM_ISA
