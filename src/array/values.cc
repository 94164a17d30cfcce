#include "array/values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace hlosim {
namespace {

template <class T>
T load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Out>
void widen(const std::byte* data, int64_t begin, int64_t count, Out* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(load<T>(data, begin + i));
}

bool has_infinity(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 || type == ElementType::kF8E5M2 ||
         type == ElementType::kF8E4M3 || type == ElementType::kF8E3M4;
}
bool is_fnuz(ElementType type) {
  return type == ElementType::kF8E4M3FNUZ || type == ElementType::kF8E5M2FNUZ ||
         type == ElementType::kF8E4M3B11FNUZ;
}

/// One value of a type of at most 16 bits.
double decode_small(ElementType type, const FloatFormat& format, uint32_t bits) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (type == ElementType::kF8E8M0FNU)
    return bits == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(bits) - format.bias);
  const uint32_t sign_bit = uint32_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint32_t magnitude = bits & (sign_bit - 1);
  const double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  if (is_fnuz(type) && bits == sign_bit) return kNan;
  if (type == ElementType::kF8E4M3FN && magnitude == sign_bit - 1) return kNan;
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t mantissa = magnitude & ((uint32_t{1} << format.mantissa_bits) - 1);
  if (has_infinity(type) && exponent == (1 << format.exponent_bits) - 1)
    return mantissa != 0 ? kNan : sign * std::numeric_limits<double>::infinity();
  const uint32_t hidden = exponent == 0 ? 0 : uint32_t{1} << format.mantissa_bits;
  return sign * std::ldexp(mantissa | hidden, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

}  // namespace

FloatFormat float_format(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {2, 1, 1, 2};
    case ElementType::kF6E2M3FN:
      return {2, 3, 1, 2};
    case ElementType::kF6E3M2FN:
      return {3, 2, 3, 4};
    case ElementType::kF8E3M4:
      return {3, 4, 3, 3};
    case ElementType::kF8E4M3:
      return {4, 3, 7, 7};
    case ElementType::kF8E4M3B11FNUZ:
      return {4, 3, 11, 4};
    case ElementType::kF8E4M3FN:
      return {4, 3, 7, 8};
    case ElementType::kF8E4M3FNUZ:
      return {4, 3, 8, 7};
    case ElementType::kF8E5M2:
      return {5, 2, 15, 15};
    case ElementType::kF8E5M2FNUZ:
      return {5, 2, 16, 15};
    case ElementType::kF8E8M0FNU:
      return {8, 0, 127, 127};
    case ElementType::kF16:
      return {5, 10, 15, 15};
    case ElementType::kBF16:
      return {8, 7, 127, 127};
    case ElementType::kF32:
      return {8, 23, 127, 127};
    case ElementType::kF64:
      return {11, 52, 1023, 1023};
    default:
      break;
  }
  HLOSIM_CHECK(false, "{} is no float type", to_text(type));
}

void decode_floats(ElementType type, const std::byte* data, int64_t begin, int64_t count, double* out) {
  switch (type) {
    case ElementType::kF64:
      return widen<double>(data, begin, count, out);
    case ElementType::kF32:
      return widen<float>(data, begin, count, out);
    case ElementType::kC128:
      return widen<double>(data, 2 * begin, 2 * count, out);
    case ElementType::kC64:
      return widen<float>(data, 2 * begin, 2 * count, out);
    case ElementType::kBF16:
      for (int64_t i = 0; i < count; ++i)
        out[i] = std::bit_cast<float>(uint32_t{load<uint16_t>(data, begin + i)} << 16);
      return;
    default:
      break;
  }
  const FloatFormat format = float_format(type);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits =
        byte_width(type) == 2 ? load<uint16_t>(data, begin + i) : load<uint8_t>(data, begin + i);
    out[i] = decode_small(type, format, bits);
  }
}

void decode_integers(ElementType type, const std::byte* data, int64_t begin, int64_t count, int64_t* out) {
  const bool is_signed = is_signed_integer(type);
  HLOSIM_CHECK(is_integer(type) || is_pred(type), "{}", to_text(type));
  switch (byte_width(type)) {
    case 1:
      return is_signed ? widen<int8_t>(data, begin, count, out) : widen<uint8_t>(data, begin, count, out);
    case 2:
      return is_signed ? widen<int16_t>(data, begin, count, out) : widen<uint16_t>(data, begin, count, out);
    case 4:
      return is_signed ? widen<int32_t>(data, begin, count, out) : widen<uint32_t>(data, begin, count, out);
    default:
      return widen<int64_t>(data, begin, count, out);
  }
}

uint64_t exact_bits(ElementType type, double value) {
  if (type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  if (type == ElementType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const FloatFormat format = float_format(type);
  if (type == ElementType::kF8E8M0FNU) return static_cast<uint64_t>(std::ilogb(value) + format.bias);
  if (value == 0) return 0;
  const double magnitude = std::fabs(value);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  const auto steps = static_cast<uint64_t>(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const uint64_t bits = (static_cast<uint64_t>(exponent + format.bias - 1) << format.mantissa_bits) + steps;
  return value < 0 ? bits | uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : bits;
}

int64_t ordinal(ElementType type, uint64_t bits) {
  if (type == ElementType::kF8E8M0FNU) return static_cast<int64_t>(bits);
  const uint64_t sign_bit = uint64_t{1} << (bit_width(type) - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign_bit - 1));
  return (bits & sign_bit) != 0 ? -magnitude : magnitude;
}

}  // namespace hlosim
