#include "oracle/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hlosim::test {
namespace {

// ── convert ─────────────────────────────────────────────────────

/// Truncated toward zero and cut to the range; NaN is 0.
uint64_t saturated(ElementType to, double value) {
  if (std::isnan(value)) return 0;
  const int width = bit_width(to) - (is_signed_integer(to) ? 1 : 0);
  const double limit = std::ldexp(1.0, width);
  const double whole = std::trunc(value);
  if (is_unsigned_integer(to)) {
    if (whole <= 0) return 0;
    return whole >= limit ? ~uint64_t{0} >> (64 - width) : static_cast<uint64_t>(whole);
  }
  if (whole >= limit) return (uint64_t{1} << width) - 1;
  if (whole <= -limit) return ~uint64_t{0} << width;
  return static_cast<uint64_t>(static_cast<int64_t>(whole));
}

Element integer_from_float(ElementType from, ElementType to, const Element& x) {
  const double value = real_of(from, x);
  const auto converted = [&](double v) { return is_pred(to) ? uint64_t{v != 0} : saturated(to, v); };
  const uint64_t result = converted(value);
  if (x.error > 0 && !std::isnan(value) &&
      (converted(value - x.error) != result || converted(value + x.error) != result ||
       (is_pred(to) && std::fabs(value) < x.error)))
    return kUnknown;
  return integer_element(to, result);
}

/// Rounding f64 and wide integers to 16 bits and less by way of f32 or at once differs in rare ties.
Element float_from_exact(ElementType to, const Element& x, ElementType from) {
  const uint64_t wide = is_unsigned_integer(from) ? x.bits : 0;
  if (to == ElementType::kF32 && is_integer(from))
    return {std::bit_cast<uint32_t>(wide ? static_cast<float>(x.bits) : static_cast<float>(integer_of(x))), 0,
            0};
  const double value = real_of(from, x);
  Element result = float_element(to, value);
  const double direct_low = real_of(to, float_element(to, value * (1 - 0x1p-23)));
  const double direct_high = real_of(to, float_element(to, value * (1 + 0x1p-23)));
  const bool wider = bit_width(from) > 32 || (is_integer(from) && bit_width(from) > 24);
  const double center = real_of(to, result);
  if (wider && bit_width(to) < 32 && (direct_low != center || direct_high != center)) {
    result.error = std::max(std::fabs(direct_low - center), std::fabs(direct_high - center));
    if (std::isnan(result.error)) result.error = kInfinity;
  }
  return result;
}

}  // namespace

int64_t total_order_key(ElementType type, const Element& x) {
  const bool single_nan = type == ElementType::kF8E4M3FNUZ || type == ElementType::kF8E5M2FNUZ ||
                          type == ElementType::kF8E4M3B11FNUZ;
  if (single_nan && std::isnan(real_of(type, x))) return std::numeric_limits<int64_t>::max();
  const uint64_t sign = type == ElementType::kF8E8M0FNU ? 0 : uint64_t{1} << (bit_width(type) - 1);
  const auto magnitude = static_cast<int64_t>(x.bits & ~sign);
  return (x.bits & sign) != 0 ? -1 - magnitude : magnitude;
}

Element convert_element(ElementType from, ElementType to, const Element& x) {
  if (from == to) return x;
  if (x.unknown()) return kUnknown;
  if (is_complex(to)) {
    const ElementType part = part_type(to);
    const Element re = convert_element(part_type(from), part, {x.bits, 0, x.error});
    if (!is_complex(from)) return {re.bits, 0, re.error};
    const Element im = convert_element(part_type(from), part, {x.imaginary, 0, x.error});
    return {re.bits, im.bits, std::max(re.error, im.error)};
  }
  if (is_complex(from)) return convert_element(part_type(from), to, {x.bits, 0, x.error});
  if (is_float(from)) {
    if (!is_float(to)) return integer_from_float(from, to, x);
    if (from == ElementType::kF64 && x.error == 0) return float_from_exact(to, x, from);
    return float_element(to, real_of(from, x), std::isnan(real_of(from, x)) ? 0 : x.error);
  }
  if (is_float(to)) return float_from_exact(to, x, from);
  return integer_element(to, x.bits);
}

namespace {

// ── compare ─────────────────────────────────────────────────────

int order(double a, double b) { return a < b ? -1 : a > b ? 1 : 0; }

bool holds(std::string_view direction, int sign) {
  if (direction == "EQ") return sign == 0;
  if (direction == "NE") return sign != 0;
  if (direction == "LT") return sign < 0;
  if (direction == "LE") return sign <= 0;
  if (direction == "GT") return sign > 0;
  return sign >= 0;
}

Element compare_floats(std::string_view direction, ElementType type, bool total, double a, double b,
                       const Element& x, const Element& y) {
  const double gap = x.error + y.error;
  const bool any_nan = std::isnan(a) || std::isnan(b);
  if (gap > 0 && (total || !any_nan)) {
    if (total && any_nan) return kUnknown;
    if (!(std::fabs(a - b) > gap)) return kUnknown;
  }
  bool result = false;
  if (total) {
    const int64_t ka = total_order_key(type, x), kb = total_order_key(type, y);
    result = holds(direction, ka < kb ? -1 : ka > kb ? 1 : 0);
  } else {
    result = any_nan ? direction == "NE" : holds(direction, order(a, b));
  }
  return {uint64_t{result}, 0, 0};
}

Element compare(const Instruction& instruction, std::span<const ElementType> types, const Element& a,
                const Element& b) {
  if (a.unknown() || b.unknown()) return kUnknown;
  const std::string_view direction = instruction.find(AttrKey::kDirection)->text();
  const ElementType type = types[0];
  if (is_complex(type)) {
    if (a.error > 0 || b.error > 0) return kUnknown;
    return {uint64_t{(complex_of(type, a) == complex_of(type, b)) == (direction == "EQ")}, 0, 0};
  }
  if (is_float(type)) {
    const Attr* written = instruction.find(AttrKey::kType);
    const bool total = written && written->text() == "TOTALORDER";
    return compare_floats(direction, type, total, real_of(type, a), real_of(types[1], b), a, b);
  }
  const bool is_signed = is_signed_integer(type);
  const int sign = a.bits == b.bits                                                ? 0
                   : (is_signed ? integer_of(a) < integer_of(b) : a.bits < b.bits) ? -1
                                                                                   : 1;
  return {uint64_t{holds(direction, sign)}, 0, 0};
}

// ── other ───────────────────────────────────────────────────────

/// Rounds the bits of a float type to fewer mantissa bits, then cuts its exponent range.
Element reduce_precision(const Instruction& instruction, ElementType type, const Element& x) {
  struct Format {
    int exponent, mantissa;
  };
  const Format own = type == ElementType::kF64    ? Format{11, 52}
                     : type == ElementType::kF32  ? Format{8, 23}
                     : type == ElementType::kBF16 ? Format{8, 7}
                                                  : Format{5, 10};
  const int64_t exponent = instruction.find(AttrKey::kExponentBits)->integer();
  const int64_t mantissa = instruction.find(AttrKey::kMantissaBits)->integer();
  if (x.error > 0) return std::isnan(real_of(type, x)) && mantissa > 0 ? x : kUnknown;
  const double value = real_of(type, x);
  const uint64_t sign = x.bits & (uint64_t{1} << (own.exponent + own.mantissa));
  const uint64_t infinity = ((uint64_t{1} << own.exponent) - 1) << own.mantissa;
  if (std::isnan(value)) return mantissa > 0 ? Element{x.bits, 0, kTiny} : Element{sign | infinity, 0, 0};
  uint64_t bits = x.bits ^ sign;
  if (mantissa < own.mantissa && !std::isinf(value)) {
    const uint64_t unit = uint64_t{1} << (own.mantissa - mantissa);
    const uint64_t odd = (bits / unit) & 1;
    bits = (bits + unit / 2 - 1 + odd) / unit * unit;
  }
  if (exponent < own.exponent && bits < infinity) {
    const int64_t bias = (int64_t{1} << (own.exponent - 1)) - 1;
    const int64_t kept = (int64_t{1} << (exponent - 1)) - 1;
    const int64_t stored = static_cast<int64_t>(bits >> own.mantissa);
    if (stored > bias + kept) bits = infinity;
    if (stored <= bias - kept) bits = 0;
  }
  return {sign | bits, 0, 0};
}

Element stochastic_convert(ElementType from, ElementType to, const Element& x, const Element& random) {
  if (x.error > 0 || random.unknown()) return kUnknown;
  const double value = real_of(from, x);
  if (std::isnan(value)) return integer_element(to, 0);
  const double magnitude = std::fabs(value), whole = std::trunc(magnitude);
  const uint64_t edge = saturated(to, value);
  if (std::isinf(value) || magnitude >= std::ldexp(1.0, bit_width(to) - 1)) return integer_element(to, edge);
  const double scaled = std::floor(std::ldexp(magnitude - whole, bit_width(from)));
  const bool up = static_cast<double>(random.bits) < scaled;
  const double rounded = whole + (up ? 1 : 0);
  return integer_element(to, saturated(to, value < 0 ? -rounded : rounded));
}

Element select(ElementType to, std::span<const ElementType> types, std::span<const Element> operands) {
  const Element on_true = convert_element(types[1], to, operands[1]);
  const Element on_false = convert_element(types[2], to, operands[2]);
  if (!operands[0].unknown()) return operands[0].bits != 0 ? on_true : on_false;
  const bool same = on_true.bits == on_false.bits && on_true.imaginary == on_false.imaginary;
  return same && on_true.error == on_false.error ? on_true : kUnknown;
}

}  // namespace

std::optional<Element> binary_element(Opcode opcode, ElementType type, const Element& a, const Element& b) {
  if (is_float(type)) return float_binary(opcode, type, type, a, b);
  if (is_complex(type)) return complex_binary(opcode, type, a, b);
  return integer_binary(opcode, type, a, b);
}

std::optional<Element> elementwise(const Instruction& instruction, ElementType to,
                                   std::span<const ElementType> types, std::span<const Element> operands) {
  const Opcode opcode = instruction.opcode;
  const ElementType type = types[0];
  switch (opcode) {
    case Opcode::kConvert:
      return convert_element(type, to, operands[0]);
    case Opcode::kCopy:
      return operands[0];
    case Opcode::kCompare:
      return compare(instruction, types, operands[0], operands[1]);
    case Opcode::kReducePrecision:
      return convert_element(type, to, reduce_precision(instruction, type, operands[0]));
    case Opcode::kStochasticConvert:
      return stochastic_convert(type, to, operands[0], operands[1]);
    case Opcode::kSelect:
      return select(to, types, operands);
    case Opcode::kComplex:
      return Element{operands[0].bits, operands[1].bits, std::max(operands[0].error, operands[1].error)};
    case Opcode::kClamp: {
      const auto higher = binary_element(Opcode::kMaximum, type, operands[0], operands[1]);
      if (!higher) return std::nullopt;
      const auto lower = binary_element(Opcode::kMinimum, type, *higher, operands[2]);
      return lower ? std::optional(convert_element(type, to, *lower)) : std::nullopt;
    }
    default:
      break;
  }
  if (operands.size() == 1) {
    if (is_float(type)) return float_unary(opcode, type, to, operands[0]);
    if (is_complex(type)) return complex_unary(opcode, type, to, operands[0]);
    if (opcode == Opcode::kReal) return operands[0];
    return integer_unary(opcode, type, operands[0]);
  }
  if (operands.size() != 2) return std::nullopt;
  if (!is_float(type)) return binary_element(opcode, type, operands[0], operands[1]);
  // Mixed floats compute in the wider type.
  const bool any_f64 = type == ElementType::kF64 || types[1] == ElementType::kF64;
  const ElementType wide = any_f64 ? ElementType::kF64 : ElementType::kF32;
  const ElementType common = types[1] == type ? type : wide;
  return float_binary(opcode, common, to, convert_element(type, common, operands[0]),
                      convert_element(types[1], common, operands[1]));
}

}  // namespace hlosim::test
