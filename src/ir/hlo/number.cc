#include "hlo/number.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/check.h"

namespace hlosim {
namespace {

enum class Special : uint8_t {
  kIeee,  // infinities and NaNs in the top exponent
  kFn,    // no infinity; NaN = all ones
  kFnuz,  // no infinity, no -0; NaN = sign bit alone
  kNone,  // finite values only
};

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Special special = Special::kIeee;
  bool has_sign = true;
};

Format format_of(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {2, 1, 1, Special::kNone};
    case ElementType::kF6E2M3FN:
      return {2, 3, 1, Special::kNone};
    case ElementType::kF6E3M2FN:
      return {3, 2, 3, Special::kNone};
    case ElementType::kF8E3M4:
      return {3, 4, 3};
    case ElementType::kF8E4M3:
      return {4, 3, 7};
    case ElementType::kF8E4M3B11FNUZ:
      return {4, 3, 11, Special::kFnuz};
    case ElementType::kF8E4M3FN:
      return {4, 3, 7, Special::kFn};
    case ElementType::kF8E4M3FNUZ:
      return {4, 3, 8, Special::kFnuz};
    case ElementType::kF8E5M2:
      return {5, 2, 15};
    case ElementType::kF8E5M2FNUZ:
      return {5, 2, 16, Special::kFnuz};
    case ElementType::kF8E8M0FNU:
      return {8, 0, 127, Special::kFn, false};
    case ElementType::kF16:
      return {5, 10, 15};
    case ElementType::kBF16:
      return {8, 7, 127};
    case ElementType::kF32:
      return {8, 23, 127};
    case ElementType::kF64:
      return {11, 52, 1023};
    default:
      break;
  }
  HLOSIM_CHECK(false, "{} is not a float type", to_text(type));
}

uint64_t exponent_mask(const Format& f) { return ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits; }
uint64_t mantissa_mask(const Format& f) { return (uint64_t{1} << f.mantissa_bits) - 1; }
uint64_t sign_bit(const Format& f) {
  return f.has_sign ? uint64_t{1} << (f.exponent_bits + f.mantissa_bits) : 0;
}
/// Largest finite magnitude as bits.
uint64_t largest(const Format& f) {
  switch (f.special) {
    case Special::kIeee:
      return exponent_mask(f) - 1;
    case Special::kFn:
      return (exponent_mask(f) | mantissa_mask(f)) - 1;
    case Special::kFnuz:
    case Special::kNone:
      return exponent_mask(f) | mantissa_mask(f);
  }
  return 0;
}

}  // namespace

uint64_t encode_number(ElementType type, double value) {
  if (is_pred(type)) return value != 0 ? 1 : 0;
  bool overflow = false;
  // XLA rounds to f32 before it rounds to a type of 16 bits.
  if (is_float(type))
    return encode_float(type, bit_width(type) == 16 ? static_cast<float>(value) : value, overflow);
  const bool is_signed = is_signed_integer(type);
  const int bits = bit_width(type) - (is_signed ? 1 : 0);  // of the largest value: none for s1
  const double limit = std::ldexp(1.0, bits);              // the first number that is too large
  if (std::isnan(value) || (!is_signed && value <= 0)) return 0;
  const uint64_t largest = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
  if (value >= limit) return largest;
  if (!is_signed) return static_cast<uint64_t>(value);
  return value <= -limit ? ~largest : static_cast<uint64_t>(static_cast<int64_t>(value));
}

int nan_payload_bits(ElementType type) {
  const Format f = format_of(type);
  return f.special == Special::kIeee ? f.mantissa_bits : 0;
}

uint64_t nan_bits(ElementType type, bool negative, uint64_t payload) {
  const Format f = format_of(type);
  const uint64_t sign = negative ? sign_bit(f) : 0;
  switch (f.special) {
    case Special::kIeee:
      return sign | exponent_mask(f) | (payload ? payload : uint64_t{1} << (f.mantissa_bits - 1));
    case Special::kFn:
      return sign | exponent_mask(f) | mantissa_mask(f);
    case Special::kFnuz:
      return sign_bit(f);
    case Special::kNone:
      return negative ? 0 : sign_bit(f);  // as ml_dtypes, whose NaN is -0
  }
  return 0;
}

uint64_t encode_float(ElementType type, double value, bool& overflow) {
  const Format f = format_of(type);
  if (std::isnan(value)) return nan_bits(type, std::signbit(value), 0);
  if (type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  if (type == ElementType::kF32)
    if (const auto rounded = static_cast<float>(value); std::isfinite(rounded))
      return std::bit_cast<uint32_t>(rounded);
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  if (!f.has_sign) {  // powers of two only, no zero
    if (negative || magnitude == 0 || std::isinf(value)) {
      overflow |= negative && std::isfinite(value) && magnitude != 0;
      return nan_bits(type, false, 0);
    }
    int exponent = 0;
    const double half = std::frexp(magnitude, &exponent);  // in [1/2, 1)
    const int code = std::max(0, exponent - (half < 0.75 ? 1 : 0) + f.bias);
    overflow |= code > 254;
    return code > 254 ? nan_bits(type, false, 0) : static_cast<uint64_t>(code);
  }
  const uint64_t sign = negative ? sign_bit(f) : 0;
  if (std::isinf(value)) {
    if (f.special == Special::kIeee) return sign | exponent_mask(f);
    return f.special == Special::kNone ? sign | largest(f) : nan_bits(type, negative, 0);
  }
  if (magnitude == 0) return f.special == Special::kFnuz ? 0 : sign;
  // Scale so that one unit in the last place of the result is 1, then round to even.
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude in [2^(e-1), 2^e)
  const int unit = std::max(exponent - 1, 1 - f.bias) - f.mantissa_bits;
  const uint64_t steps = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  const uint64_t base = static_cast<uint64_t>(unit + f.mantissa_bits + f.bias - 1) << f.mantissa_bits;
  const uint64_t bits = base + steps;  // a carry out of the mantissa raises the exponent
  if (bits > largest(f)) {
    overflow = true;
    if (f.special == Special::kIeee) return sign | exponent_mask(f);
    return f.special == Special::kNone ? sign | largest(f) : nan_bits(type, negative, 0);
  }
  if (bits == 0 && f.special == Special::kFnuz) return 0;
  return sign | bits;
}

double decode_float(ElementType type, uint64_t bits) {
  if (type == ElementType::kF64) return std::bit_cast<double>(bits);
  if (type == ElementType::kF32)
    if (const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits)); !std::isnan(value))
      return value;
  const Format f = format_of(type);
  const bool negative = f.has_sign && (bits & sign_bit(f)) != 0;
  const uint64_t magnitude = bits & (exponent_mask(f) | mantissa_mask(f));
  const double sign = negative ? -1.0 : 1.0;
  if (f.special == Special::kFnuz && bits == sign_bit(f)) return std::numeric_limits<double>::quiet_NaN();
  if (f.special == Special::kFn && magnitude == (exponent_mask(f) | mantissa_mask(f)))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (f.special == Special::kIeee && (magnitude & exponent_mask(f)) == exponent_mask(f))
    return (magnitude & mantissa_mask(f)) ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
                                          : sign * std::numeric_limits<double>::infinity();
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint64_t mantissa = magnitude & mantissa_mask(f);
  if (!f.has_sign) return std::ldexp(1.0, exponent - f.bias);
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(static_cast<double>(mantissa | (uint64_t{1} << f.mantissa_bits)),
                           exponent - f.bias - f.mantissa_bits);
}

void append_float(std::string& out, ElementType type, uint64_t bits) {
  const double value = decode_float(type, bits);
  if (std::isnan(value)) {
    const Format f = format_of(type);
    if (f.has_sign && f.special != Special::kFnuz && (bits & sign_bit(f))) out += '-';
    out += "nan";
    const uint64_t payload = bits & mantissa_mask(f);
    if (f.special == Special::kIeee && payload != uint64_t{1} << (f.mantissa_bits - 1))
      fmt::format_to(std::back_inserter(out), "(0x{:x})", payload);
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[64];
  std::to_chars_result written{};
  if (type == ElementType::kF64) {
    written = std::to_chars(buffer, std::end(buffer), value);
  } else if (type == ElementType::kF32) {
    written = std::to_chars(buffer, std::end(buffer), static_cast<float>(value));
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      written = std::to_chars(buffer, std::end(buffer), value, std::chars_format::general, digits);
      double back = 0;
      std::from_chars(buffer, written.ptr, back);
      bool overflow = false;
      if (encode_float(type, back, overflow) == bits && !overflow) break;
    }
  }
  const std::string_view text(buffer, static_cast<size_t>(written.ptr - buffer));
  out += text;
  if (value == 0 && std::signbit(value)) out += ".0";  // `-0` alone could be taken for an integer
}

}  // namespace hlosim
