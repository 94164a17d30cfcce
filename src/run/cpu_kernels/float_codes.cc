#include "cpu_kernels/float_codes.h"

#include <array>
#include <cmath>
#include <limits>

namespace hlosim {
namespace {

// What codes of the largest exponent, or of -0, stand for.
enum class Special : uint8_t {
  kNone,      // numbers
  kIeee,      // infinity and NaN
  kAllOnes,   // NaN when the mantissa is all ones, else numbers
  kMinusZero  // NaN is the code of -0
};

struct Format {
  ElementType type;
  int exponent_bits, mantissa_bits, bias;
  Special special;
};

constexpr Format kFormats[] = {
    {ElementType::kF4E2M1FN, 2, 1, 1, Special::kNone},
    {ElementType::kF6E2M3FN, 2, 3, 1, Special::kNone},
    {ElementType::kF6E3M2FN, 3, 2, 3, Special::kNone},
    {ElementType::kF8E3M4, 3, 4, 3, Special::kIeee},
    {ElementType::kF8E4M3, 4, 3, 7, Special::kIeee},
    {ElementType::kF8E4M3B11FNUZ, 4, 3, 11, Special::kMinusZero},
    {ElementType::kF8E4M3FN, 4, 3, 7, Special::kAllOnes},
    {ElementType::kF8E4M3FNUZ, 4, 3, 8, Special::kMinusZero},
    {ElementType::kF8E5M2, 5, 2, 15, Special::kIeee},
    {ElementType::kF8E5M2FNUZ, 5, 2, 16, Special::kMinusZero},
};
constexpr size_t kFormatCount = std::size(kFormats);

float value_of(const Format& format, unsigned code) {
  const unsigned mantissa_mask = (1u << format.mantissa_bits) - 1,
                 exponent_mask = (1u << format.exponent_bits) - 1;
  const unsigned mantissa = code & mantissa_mask, exponent = code >> format.mantissa_bits & exponent_mask;
  const bool negative = (code >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float sign = negative ? -1.0f : 1.0f;
  if (format.special == Special::kMinusZero && negative && mantissa == 0 && exponent == 0) return kNan;
  if (exponent == exponent_mask) {
    if (format.special == Special::kIeee)
      return mantissa != 0 ? kNan : sign * std::numeric_limits<float>::infinity();
    if (format.special == Special::kAllOnes && mantissa == mantissa_mask) return kNan;
  }
  const unsigned significand = exponent == 0 ? mantissa : mantissa | 1u << format.mantissa_bits;
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(significand), power);
}

using Codes = std::array<float, 256>;

struct Tables {
  std::array<Codes, kFormatCount> of_format;
  Codes powers;  // f8e8m0fnu

  Tables() {
    for (size_t i = 0; i < kFormatCount; ++i)
      for (unsigned code = 0; code < 256; ++code) of_format[i][code] = value_of(kFormats[i], code);
    for (int code = 0; code < 255; ++code) powers[static_cast<size_t>(code)] = std::ldexp(1.0f, code - 127);
    powers[255] = std::numeric_limits<float>::quiet_NaN();
  }
};

}  // namespace

const float* float_codes(ElementType type) {
  static const Tables tables;
  if (type == ElementType::kF8E8M0FNU) return tables.powers.data();
  for (size_t i = 0; i < kFormatCount; ++i)
    if (kFormats[i].type == type) return tables.of_format[i].data();
  return nullptr;
}

}  // namespace hlosim
