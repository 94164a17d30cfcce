// Integers and predicates: exact, or unknown when an operand is.
#include <bit>

#include "oracle/elementwise.h"

namespace hlosim::test {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

uint64_t bits_within(ElementType type, const Element& x) {
  const int width = bit_width(type);
  return width == 64 ? x.bits : x.bits & ((uint64_t{1} << width) - 1);
}

uint64_t lowest_value(ElementType type) { return ~uint64_t{0} << (bit_width(type) - 1); }

uint64_t quotient(ElementType type, const Element& a, const Element& b) {
  if (b.bits == 0) return ~uint64_t{0};
  if (is_unsigned_integer(type)) return a.bits / b.bits;
  if (integer_of(b) == -1) return uint64_t{0} - a.bits;
  return static_cast<uint64_t>(integer_of(a) / integer_of(b));
}

uint64_t remainder(ElementType type, const Element& a, const Element& b) {
  if (b.bits == 0) return a.bits;
  if (is_unsigned_integer(type)) return a.bits % b.bits;
  if (integer_of(b) == -1) return 0;
  return static_cast<uint64_t>(integer_of(a) % integer_of(b));
}

uint64_t power(ElementType type, const Element& base, const Element& exponent) {
  if (is_signed_integer(type) && integer_of(exponent) < 0) return base.bits == 1 ? 1 : 0;
  uint64_t result = 1, square = base.bits;
  for (uint64_t e = exponent.bits; e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return result;
}

uint64_t high_product(ElementType type, const Element& a, const Element& b) {
  const int width = bit_width(type);
  if (is_unsigned_integer(type)) return static_cast<uint64_t>(UInt128{a.bits} * b.bits >> width);
  return static_cast<uint64_t>(Int128{integer_of(a)} * integer_of(b) >> width);
}

bool less(ElementType type, const Element& a, const Element& b) {
  return is_signed_integer(type) ? integer_of(a) < integer_of(b) : a.bits < b.bits;
}

std::optional<bool> pred_binary(Opcode opcode, bool a, bool b) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr:
      return a || b;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd:
      return a && b;
    case Opcode::kSubtract:
    case Opcode::kXor:
      return a != b;
    case Opcode::kPower:
      return a || !b;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Element> integer_unary(Opcode opcode, ElementType type, const Element& x) {
  if (x.unknown()) return kUnknown;
  if (is_pred(type)) {
    if (opcode != Opcode::kNot) return std::nullopt;
    return Element{x.bits ^ 1, 0, 0};
  }
  const bool negative = is_signed_integer(type) && integer_of(x) < 0;
  const auto width = static_cast<uint64_t>(bit_width(type));
  switch (opcode) {
    case Opcode::kAbs:
      return integer_element(type, negative ? uint64_t{0} - x.bits : x.bits);
    case Opcode::kNegate:
      return integer_element(type, uint64_t{0} - x.bits);
    case Opcode::kSign:
      return integer_element(type, negative ? ~uint64_t{0} : uint64_t{x.bits != 0});
    case Opcode::kNot:
      return integer_element(type, ~x.bits);
    case Opcode::kPopulationCount:
      return integer_element(type, static_cast<uint64_t>(std::popcount(bits_within(type, x))));
    case Opcode::kClz:
      return integer_element(type, width - static_cast<uint64_t>(std::bit_width(bits_within(type, x))));
    default:
      return std::nullopt;
  }
}

std::optional<Element> integer_binary(Opcode opcode, ElementType type, const Element& a, const Element& b) {
  if (a.unknown() || b.unknown()) return kUnknown;
  if (is_pred(type)) {
    const std::optional<bool> result = pred_binary(opcode, a.bits != 0, b.bits != 0);
    if (!result) return std::nullopt;
    return integer_element(type, *result);
  }
  const auto width = static_cast<uint64_t>(bit_width(type));
  const uint64_t amount = bits_within(type, b);
  const bool negative =
      is_signed_integer(type) ? integer_of(a) < 0 : (bits_within(type, a) >> (width - 1)) != 0;
  const uint64_t filled = negative ? a.bits | lowest_value(type) : a.bits;
  switch (opcode) {
    case Opcode::kAdd:
      return integer_element(type, a.bits + b.bits);
    case Opcode::kSubtract:
      return integer_element(type, a.bits - b.bits);
    case Opcode::kMultiply:
      return integer_element(type, a.bits * b.bits);
    case Opcode::kDivide:
      return integer_element(type, quotient(type, a, b));
    case Opcode::kRemainder:
      return integer_element(type, remainder(type, a, b));
    case Opcode::kPower:
      return integer_element(type, power(type, a, b));
    case Opcode::kMulhi:
      return integer_element(type, high_product(type, a, b));
    case Opcode::kMaximum:
      return less(type, a, b) ? b : a;
    case Opcode::kMinimum:
      return less(type, b, a) ? b : a;
    case Opcode::kAnd:
      return integer_element(type, a.bits & b.bits);
    case Opcode::kOr:
      return integer_element(type, a.bits | b.bits);
    case Opcode::kXor:
      return integer_element(type, a.bits ^ b.bits);
    case Opcode::kShiftLeft:
      return integer_element(type, amount >= width ? 0 : a.bits << amount);
    case Opcode::kShiftRightLogical:
      return integer_element(type, amount >= width ? 0 : bits_within(type, a) >> amount);
    case Opcode::kShiftRightArithmetic:
      return integer_element(type, static_cast<uint64_t>(static_cast<int64_t>(filled) >>
                                                         (amount >= width ? uint64_t{63} : amount)));
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim::test
