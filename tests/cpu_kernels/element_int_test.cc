// Integers and pred against arithmetic in 128 bits: all pairs of up to 8 bits, samples and corners beyond.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "elements.h"

namespace hlosim {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

struct Integer {
  ElementType type;
  int bits() const { return is_pred(type) ? 1 : bit_width(type); }
  bool has_sign() const { return is_signed_integer(type); }
  Wide least() const { return has_sign() ? -(Wide{1} << (bits() - 1)) : 0; }
  Wide most() const { return has_sign() ? (Wide{1} << (bits() - 1)) - 1 : (Wide{1} << bits()) - 1; }
  /// The low bits as a value.
  Wide cut(Wide x) const {
    const Wide modulus = Wide{1} << bits();
    Wide low = x % modulus;
    if (low < 0) low += modulus;
    return low > most() ? low - modulus : low;
  }
  /// The value without regard to its sign bit.
  Wide as_unsigned(Wide x) const { return x < 0 ? x + (Wide{1} << bits()) : x; }
};

std::vector<ElementType> integer_types() {
  std::vector<ElementType> types;
  for (const ElementType type : all_types())
    if (is_integer(type)) types.push_back(type);
  return types;
}

std::byte* put(std::byte* at, ElementType type, Wide x) {
  const auto bits = static_cast<uint64_t>(x);
  std::memcpy(at, &bits, static_cast<size_t>(byte_width(type)));
  return at + byte_width(type);
}
Wide get(const std::byte* at, ElementType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(byte_width(type)));
  if (is_signed_integer(type)) {
    const int unused = 64 - static_cast<int>(byte_width(type)) * 8;
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  return bits;
}

std::vector<Wide> sample(const Integer& t) {
  std::vector<Wide> values;
  if (t.bits() <= 8) {
    for (Wide x = t.least(); x <= t.most(); ++x) values.push_back(x);
    return values;
  }
  for (int i = 0; i < t.bits(); i += i < t.bits() - 2 ? 3 : 1)
    for (int d = -1; d <= 1; ++d) {
      values.push_back(t.cut((Wide{1} << i) + d));
      values.push_back(t.cut(-(Wide{1} << i) + d));
    }
  std::mt19937_64 random(static_cast<uint64_t>(t.type));
  for (int i = 0; i < 40; ++i) values.push_back(t.cut(static_cast<Wide>(random() >> random() % 60)));
  return values;
}

/// The low 128 bits.
Wide product(Wide x, Wide y) {
  return static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y));
}

Wide power(const Integer& t, Wide x, Wide y) {
  if (y < 0) return x == 1 ? 1 : 0;
  Wide result = 1;
  for (int bit = t.bits() - 1; bit >= 0; --bit) {
    result = t.cut(product(result, result));
    if ((y >> bit & 1) != 0) result = t.cut(product(result, x));
  }
  return result;
}

using Oracle = Wide (*)(const Integer&, Wide, Wide);

const std::map<ElementOp, Oracle>& binary_oracles() {
  static const std::map<ElementOp, Oracle> oracles = {
      {ElementOp::kAdd, [](const Integer&, Wide x, Wide y) { return x + y; }},
      {ElementOp::kSubtract, [](const Integer&, Wide x, Wide y) { return x - y; }},
      {ElementOp::kMultiply, [](const Integer&, Wide x, Wide y) { return product(x, y); }},
      {ElementOp::kDivide, [](const Integer&, Wide x, Wide y) { return y == 0 ? Wide{-1} : x / y; }},
      {ElementOp::kRemainder, [](const Integer&, Wide x, Wide y) { return y == 0 ? x : x % y; }},
      {ElementOp::kPower, power},
      {ElementOp::kMaximum, [](const Integer&, Wide x, Wide y) { return std::max(x, y); }},
      {ElementOp::kMinimum, [](const Integer&, Wide x, Wide y) { return std::min(x, y); }},
      {ElementOp::kAnd, [](const Integer&, Wide x, Wide y) { return x & y; }},
      {ElementOp::kOr, [](const Integer&, Wide x, Wide y) { return x | y; }},
      {ElementOp::kXor, [](const Integer&, Wide x, Wide y) { return x ^ y; }},
      {ElementOp::kShiftLeft,
       [](const Integer& t, Wide x, Wide y) {
         return t.as_unsigned(y) >= t.bits() ? Wide{0} : x * (Wide{1} << static_cast<int>(t.as_unsigned(y)));
       }},
      {ElementOp::kShiftRightLogical,
       [](const Integer& t, Wide x, Wide y) {
         return t.as_unsigned(y) >= t.bits() ? Wide{0}
                                             : t.as_unsigned(x) >> static_cast<int>(t.as_unsigned(y));
       }},
      {ElementOp::kShiftRightArithmetic,
       [](const Integer& t, Wide x, Wide y) {
         const Wide with_sign =
             t.as_unsigned(x) >> (t.bits() - 1) != 0 ? t.as_unsigned(x) - (Wide{1} << t.bits()) : x;
         return with_sign >> static_cast<int>(std::min(t.as_unsigned(y), Wide{t.bits()}));
       }},
      {ElementOp::kMulhi,
       [](const Integer& t, Wide x, Wide y) {
         if (t.bits() < 64 || t.has_sign()) return x * y >> t.bits();
         // 128 bits unsigned.
         return static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y) >> 64);
       }},
  };
  return oracles;
}

const std::map<ElementOp, Oracle>& unary_oracles() {
  static const std::map<ElementOp, Oracle> oracles = {
      {ElementOp::kAbs, [](const Integer&, Wide x, Wide) { return x < 0 ? -x : x; }},
      {ElementOp::kNegate, [](const Integer&, Wide x, Wide) { return -x; }},
      {ElementOp::kSign, [](const Integer&, Wide x, Wide) { return Wide{(x > 0) - (x < 0)}; }},
      {ElementOp::kNot, [](const Integer&, Wide x, Wide) { return ~x; }},
      {ElementOp::kPopulationCount,
       [](const Integer& t, Wide x, Wide) {
         Wide count = 0;
         for (int i = 0; i < t.bits(); ++i) count += x >> i & 1;
         return count;
       }},
      {ElementOp::kCountLeadingZeros,
       [](const Integer& t, Wide x, Wide) {
         Wide count = 0;
         while (count < t.bits() && (x >> static_cast<int>(t.bits() - 1 - count) & 1) == 0) ++count;
         return count;
       }},
  };
  return oracles;
}

const std::map<ElementOp, Oracle>& comparison_oracles() {
  static const std::map<ElementOp, Oracle> oracles = {
      {ElementOp::kEqual, [](const Integer&, Wide x, Wide y) { return Wide{x == y}; }},
      {ElementOp::kNotEqual, [](const Integer&, Wide x, Wide y) { return Wide{x != y}; }},
      {ElementOp::kLess, [](const Integer&, Wide x, Wide y) { return Wide{x < y}; }},
      {ElementOp::kLessEqual, [](const Integer&, Wide x, Wide y) { return Wide{x <= y}; }},
      {ElementOp::kGreater, [](const Integer&, Wide x, Wide y) { return Wide{x > y}; }},
      {ElementOp::kGreaterEqual, [](const Integer&, Wide x, Wide y) { return Wide{x >= y}; }},
  };
  return oracles;
}

std::string shown(Wide x) { return std::to_string(static_cast<int64_t>(x)); }

/// Checks `op` on all pairs of sample values.
void check(ElementOp op, const Integer& t, ElementType result_type, Oracle oracle) {
  const ElementKernel kernel = element_kernel(op, t.type, result_type);
  ASSERT_TRUE(kernel) << "op " << static_cast<int>(op) << " " << to_text(t.type);
  const std::vector<Wide> values = sample(t);
  const size_t n = values.size() * values.size(), width = static_cast<size_t>(byte_width(t.type));
  const size_t result_width = static_cast<size_t>(byte_width(result_type));
  std::vector<std::byte> a(n * width), b(n * width), out(n * result_width);
  for (size_t i = 0; i < n; ++i) {
    put(a.data() + i * width, t.type, values[i / values.size()]);
    put(b.data() + i * width, t.type, values[i % values.size()]);
  }
  const void* const in[] = {a.data(), b.data()};
  kernel.fn(out.data(), in, kernel.immediate, static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    const Wide x = values[i / values.size()], y = values[i % values.size()];
    const Wide expected = result_type == t.type ? t.cut(oracle(t, x, y)) : oracle(t, x, y);
    ASSERT_EQ(shown(get(out.data() + i * result_width, result_type)), shown(expected))
        << "op " << static_cast<int>(op) << " " << to_text(t.type) << " " << shown(x) << " " << shown(y);
  }
}

TEST(ElementInt, OperationsAreThoseOfWideIntegersCutToTheWidth) {
  for (const ElementType type : integer_types()) {
    for (const auto& [op, oracle] : binary_oracles()) check(op, {type}, type, oracle);
    for (const auto& [op, oracle] : unary_oracles()) check(op, {type}, type, oracle);
    for (const auto& [op, oracle] : comparison_oracles()) check(op, {type}, ElementType::kPred, oracle);
  }
}

TEST(ElementInt, PredComputesInBytesAndTellsWhetherTheResultIsZero) {
  const Integer pred{ElementType::kPred};
  for (const auto& [op, oracle] : comparison_oracles()) check(op, pred, ElementType::kPred, oracle);
  const std::map<ElementOp, Oracle> oracles = {
      {ElementOp::kNot, [](const Integer&, Wide x, Wide) { return Wide{x == 0}; }},
      {ElementOp::kAdd, [](const Integer&, Wide x, Wide y) { return Wide{x + y != 0}; }},
      {ElementOp::kSubtract, [](const Integer&, Wide x, Wide y) { return Wide{x - y != 0}; }},
      {ElementOp::kMultiply, [](const Integer&, Wide x, Wide y) { return Wide{x * y != 0}; }},
      {ElementOp::kDivide, [](const Integer&, Wide x, Wide y) { return Wide{y == 0 || x / y != 0}; }},
      {ElementOp::kRemainder, [](const Integer&, Wide x, Wide y) { return Wide{y == 0 ? x : 0}; }},
      {ElementOp::kPower, [](const Integer&, Wide x, Wide y) { return Wide{x != 0 || y == 0}; }},
      {ElementOp::kMaximum, [](const Integer&, Wide x, Wide y) { return x | y; }},
      {ElementOp::kMinimum, [](const Integer&, Wide x, Wide y) { return x & y; }},
      {ElementOp::kAnd, [](const Integer&, Wide x, Wide y) { return x & y; }},
      {ElementOp::kOr, [](const Integer&, Wide x, Wide y) { return x | y; }},
      {ElementOp::kXor, [](const Integer&, Wide x, Wide y) { return x ^ y; }},
  };
  for (const auto& [op, oracle] : oracles) check(op, pred, ElementType::kPred, oracle);
}

TEST(ElementInt, ClampTakesTheUpperBoundWhereBoundsCross) {
  const ElementKernel kernel = element_kernel(ElementOp::kClamp, ElementType::kS32, ElementType::kS32);
  const std::vector<int32_t> low = {-1, -1, -1, 5, 5, 5}, x = {-7, 0, 7, 0, 4, 9}, high = {2, 2, 2, 3, 3, 3};
  EXPECT_EQ(run_kernel<int32_t>(kernel, low, x, high), (std::vector<int32_t>{-1, 0, 2, 3, 3, 3}));
}

TEST(ElementInt, ConversionsKeepTheLowBits) {
  std::vector<ElementType> types = integer_types();
  types.push_back(ElementType::kPred);
  for (const ElementType from : types)
    for (const ElementType to : types) {
      const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
      for (const Wide x : sample({from})) {
        std::byte in[8] = {}, out[8] = {};
        put(in, from, x);
        const void* const operands[] = {in};
        kernel.fn(out, operands, kernel.immediate, 1);
        const Wide expected = is_pred(to) ? Wide{x != 0} : Integer{to}.cut(x);
        ASSERT_EQ(shown(get(out, to)), shown(expected))
            << to_text(from) << " to " << to_text(to) << " " << shown(x);
      }
    }
}

TEST(ElementInt, SelectPicksBytes) {
  for (const ElementType type : all_types()) {
    std::mt19937_64 random(1);
    constexpr int64_t kN = 100;
    const auto width = static_cast<size_t>(byte_width(type));
    const auto predicate = random_elements(ElementType::kPred, kN, random);
    const auto on_true = random_elements(type, kN, random), on_false = random_elements(type, kN, random);
    std::vector<std::byte> out(kN * width);
    const void* const in[] = {predicate.data(), on_true.data(), on_false.data()};
    const ElementKernel kernel = element_kernel(ElementOp::kSelect, type, type);
    kernel.fn(out.data(), in, kernel.immediate, kN);
    for (size_t i = 0; i < kN; ++i) {
      const auto& expected = predicate[i] != std::byte{0} ? on_true : on_false;
      ASSERT_EQ(std::memcmp(&out[i * width], &expected[i * width], width), 0) << to_text(type) << " " << i;
    }
  }
}

}  // namespace
}  // namespace hlosim
