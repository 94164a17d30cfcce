// Products against three loops in the widest arithmetic. Operands are small multiples of a power of two, so
// that every sum is exact and the order of terms can't show: the results have to be equal to the bit.
#include "cpu_kernels/matmul.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "cpu_kernels/float_codes.h"
#include "cpu_kernels/matmul_recipe.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using enum ElementType;
using Number = std::complex<double>;  // holds every value that the tests use

struct NamedLevel {
  std::string name;
  MatmulLevel level;
};

std::vector<NamedLevel> levels() {
  std::vector<NamedLevel> list;
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4})
    if (level <= supported_isa_level())
      list.push_back({std::string(name(level)), matmul_level(level, false)});
  if (supported_isa_level() == IsaLevel::kV4 && supports_vnni())
    list.push_back({"v4_vnni", matmul_level(IsaLevel::kV4, true)});
  return list;
}

// ── Elements ────────────────────────────────────────────────────

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// bf16 and f16 that hold exactly the small numbers of these tests.
uint16_t half_bits(ElementType type, double value) {
  if (type == kBF16) return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto mantissa = static_cast<uint16_t>(std::lround(fraction * 2048) - 1024);
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | mantissa);
}

double half_value(ElementType type, uint16_t bits) {
  if (type == kBF16) return std::bit_cast<float>(uint32_t{bits} << 16);
  const double magnitude = (bits >> 10 & 31) == 0 ? std::ldexp(bits & 1023, -24)
                                                  : std::ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

void write_element(ElementType type, std::byte* to, Number number) {
  const double value = number.real();
  const auto whole = static_cast<int64_t>(value);
  switch (type) {
    case kF32:
      return write(to, static_cast<float>(value));
    case kF64:
      return write(to, value);
    case kC64:
      return write(to, std::complex<float>(number));
    case kC128:
      return write(to, number);
    case kBF16:
    case kF16:
      return write(to, half_bits(type, value));
    default:
      break;
  }
  if (is_float(type)) {
    for (int code = 0; code < 256; ++code)
      if (float_codes(type)[code] == value) return write(to, static_cast<uint8_t>(code));
    FAIL() << to_text(type) << " does not hold " << value;
  }
  std::memcpy(to, &whole, static_cast<size_t>(byte_width(type)));
}

/// The sum as an element of an integer type: the low bits.
int64_t cut(ElementType type, uint64_t sum) {
  const int bits = is_pred(type) ? 1 : bit_width(type), shift = 64 - bits;
  if (is_pred(type)) return sum != 0;
  return is_signed_integer(type) ? static_cast<int64_t>(sum << shift) >> shift
                                 : static_cast<int64_t>(sum << shift >> shift);
}

Number read_element(ElementType type, const std::byte* from) {
  switch (type) {
    case kF32:
      return read<float>(from);
    case kF64:
      return read<double>(from);
    case kC64:
      return Number(read<std::complex<float>>(from));
    case kC128:
      return read<Number>(from);
    case kBF16:
    case kF16:
      return half_value(type, read<uint16_t>(from));
    default:
      break;
  }
  if (is_float(type)) return float_codes(type)[static_cast<uint8_t>(*from)];
  uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(byte_width(type)));
  const int shift = 64 - static_cast<int>(byte_width(type)) * 8;
  return is_signed_integer(type) ? static_cast<double>(static_cast<int64_t>(bits << shift) >> shift)
                                 : static_cast<double>(bits);
}

/// Small numbers that the type holds, sums of a few thousand products of which f32 and f16 hold.
Number random_number(ElementType type, std::mt19937& random) {
  const auto whole = [&](int low, int high) {
    return static_cast<double>(std::uniform_int_distribution<int>(low, high)(random));
  };
  switch (type) {
    case kPred:
      return whole(0, 9) == 0 ? 1.0 : 0.0;
    case kU8:
      return whole(0, 255);
    case kS8:
      return whole(-128, 127);
    case kU16:
      return whole(0, 65535);
    case kS16:
      return whole(-32768, 32767);
    case kU32:
    case kU64:
      return whole(0, 1 << 20);
    case kS32:
    case kS64:
      return whole(-(1 << 20), 1 << 20);
    case kC64:
    case kC128:
      return Number(whole(-4, 4), whole(-4, 4));
    case kF8E8M0FNU:
      return whole(1, 2);
    default:
      break;
  }
  if (is_signed_integer(type)) return whole(-(1 << (bit_width(type) - 1)), (1 << (bit_width(type) - 1)) - 1);
  if (is_unsigned_integer(type)) return whole(0, (1 << bit_width(type)) - 1);
  return whole(-2, 2);
}

// ── Matrices ────────────────────────────────────────────────────

enum class Order { kRows, kColumns, kGaps, kBackwards };
constexpr Order kOrders[] = {Order::kRows, Order::kColumns, Order::kGaps, Order::kBackwards};

/// A batch of matrices with strides of a kind.
struct Matrices {
  Matrices(ElementType element_type, int64_t batch_size, int64_t rows, int64_t columns, Order order)
      : type(element_type) {
    const int64_t gap = order == Order::kGaps ? 3 : 1;
    row_stride = order == Order::kColumns ? 1 : (columns + (order == Order::kGaps ? 2 : 0)) * gap;
    column_stride = order == Order::kColumns ? std::max<int64_t>(rows, 1) : gap;
    batch_stride = std::max<int64_t>(rows, 1) * std::max<int64_t>(columns + 2, 1) * gap;
    int64_t first = 0;
    if (order == Order::kBackwards) {
      first = std::max<int64_t>(rows - 1, 0) * row_stride + std::max<int64_t>(columns - 1, 0);
      row_stride = -row_stride;
      column_stride = -column_stride;
    }
    bytes.assign(static_cast<size_t>((batch_size * batch_stride + 64) * byte_width(type)), std::byte{0x55});
    base = bytes.data() + first * byte_width(type);
  }

  std::byte* at(int64_t batch, int64_t row, int64_t column) {
    return base + (batch * batch_stride + row * row_stride + column * column_stride) * byte_width(type);
  }

  ElementType type;
  int64_t batch_stride, row_stride, column_stride;
  std::vector<std::byte> bytes;
  std::byte* base;
};

struct Case {
  int64_t m, n, k;
  ElementType lhs = kF32, rhs = kF32, result = kF32;
  Order lhs_order = Order::kRows, rhs_order = Order::kRows, result_order = Order::kRows;
  int64_t batch = 1;

  std::string text() const {
    return fmt::format("{} x [{},{},{}] {}·{}→{} orders {}{}{}", batch, m, n, k, to_text(lhs), to_text(rhs),
                       to_text(result), static_cast<int>(lhs_order), static_cast<int>(rhs_order),
                       static_cast<int>(result_order));
  }
};

class Product {
 public:
  explicit Product(const Case& c)
      : case_(c),
        lhs_(c.lhs, c.batch, c.m, c.k, c.lhs_order),
        rhs_(c.rhs, c.batch, c.k, c.n, c.rhs_order),
        result_(c.result, c.batch, c.m, c.n, c.result_order) {
    std::mt19937 random(static_cast<uint32_t>(c.m * 7919 + c.n * 104729 + c.k));
    for (int64_t b = 0; b < c.batch; ++b) {
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t p = 0; p < c.k; ++p)
          write_element(c.lhs, lhs_.at(b, i, p), random_number(c.lhs, random));
      for (int64_t p = 0; p < c.k; ++p)
        for (int64_t j = 0; j < c.n; ++j)
          write_element(c.rhs, rhs_.at(b, p, j), random_number(c.rhs, random));
    }
  }

  const std::vector<std::byte>& compute(const MatmulLevel& level) {
    std::fill(result_.bytes.begin(), result_.bytes.end(), std::byte{0x77});
    const MatmulBatch batch[] = {{case_.batch, lhs_.batch_stride, rhs_.batch_stride, result_.batch_stride}};
    matmul({.m = case_.m,
            .n = case_.n,
            .k = case_.k,
            .lhs = {lhs_.base, case_.lhs, lhs_.row_stride, lhs_.column_stride},
            .rhs = {rhs_.base, case_.rhs, rhs_.row_stride, rhs_.column_stride},
            .result = {result_.base, case_.result, result_.row_stride, result_.column_stride},
            .batch = case_.batch == 1 ? std::span<const MatmulBatch>() : batch},
           level);
    return result_.bytes;
  }

  /// The bytes that compute() has to leave, gaps included.
  std::vector<std::byte> expected() {
    std::fill(result_.bytes.begin(), result_.bytes.end(), std::byte{0x77});
    for (int64_t b = 0; b < case_.batch; ++b) {
      if (is_complex(case_.result))
        write_sums<Number>(b);
      else if (is_float(case_.result))
        write_sums<double>(b);
      else
        write_sums<uint64_t>(b);
    }
    return result_.bytes;
  }

 private:
  template <class T>
  static T as(Number number) {
    if constexpr (std::is_same_v<T, Number>)
      return number;
    else if constexpr (std::is_same_v<T, double>)
      return number.real();
    else
      return static_cast<T>(static_cast<int64_t>(number.real()));
  }

  template <class T>
  void write_sums(int64_t b) {
    std::vector<T> rhs;
    for (int64_t p = 0; p < case_.k; ++p)
      for (int64_t j = 0; j < case_.n; ++j) rhs.push_back(as<T>(read_element(case_.rhs, rhs_.at(b, p, j))));
    for (int64_t i = 0; i < case_.m; ++i) {
      std::vector<T> sums(static_cast<size_t>(case_.n));
      for (int64_t p = 0; p < case_.k; ++p) {
        const T x = as<T>(read_element(case_.lhs, lhs_.at(b, i, p)));
        for (int64_t j = 0; j < case_.n; ++j)
          sums[static_cast<size_t>(j)] += x * rhs[static_cast<size_t>(p * case_.n + j)];
      }
      for (int64_t j = 0; j < case_.n; ++j) {
        const T sum = sums[static_cast<size_t>(j)];
        if constexpr (std::is_same_v<T, uint64_t>) {
          const int64_t element = cut(case_.result, sum);
          std::memcpy(result_.at(b, i, j), &element, static_cast<size_t>(byte_width(case_.result)));
        } else {
          write_element(case_.result, result_.at(b, i, j), sum);
        }
      }
    }
  }

  Case case_;
  Matrices lhs_, rhs_, result_;
};

void expect_right(const Case& c) {
  Product product(c);
  const auto expected = product.expected();
  for (const NamedLevel& level : levels())
    EXPECT_TRUE(product.compute(level.level) == expected) << c.text() << " on " << level.name;
}

// ── Tests ───────────────────────────────────────────────────────

TEST(Matmul, EmptyAndSmallSizes) {
  for (const ElementType type : {kF32, kF64, kS32, kU64, kC64, kC128})
    for (const int64_t m : {0, 1, 2, 5, 6, 7, 13})
      for (const int64_t n : {0, 1, 3, 4, 8, 15, 16, 17, 65})
        for (const int64_t k : {0, 1, 2, 7, 33}) expect_right({m, n, k, type, type, type});
}

TEST(Matmul, BlockedSizesAroundTilesAndBlocks) {
  for (const int64_t m : {17, 23, 24, 25, 97})
    for (const int64_t n : {31, 32, 33, 48, 49, 481})
      for (const int64_t k : {383, 384, 385, 1153}) expect_right({m, n, k});
  expect_right({400, 150, 120});
  expect_right({20, 1000, 130});
}

TEST(Matmul, FewRowsOrColumns) {
  for (const int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16})
    for (const ElementType type : {kF32, kBF16, kF16}) {
      expect_right({rows, 300, 131, type, type});
      expect_right({rows, 300, 131, type, type, kF32, Order::kRows, Order::kColumns});
      expect_right({300, rows, 131, type, type});
      expect_right({300, rows, 131, type, type, kF32, Order::kColumns, Order::kColumns});
    }
  for (const int64_t rows : {1, 6, 11, 16})
    for (const ElementType type : {kF64, kS32, kU64, kC64, kC128})
      for (const Order order : kOrders) {
        expect_right({rows, 150, 405, type, type, type, Order::kRows, order});
        expect_right({150, rows, 405, type, type, type, order, Order::kRows});
      }
  expect_right({3, 70000, 9});
  expect_right({3, 9, 70000});
}

TEST(Matmul, EveryOrderOfEveryOperand) {
  for (const Order lhs : kOrders)
    for (const Order rhs : kOrders)
      for (const Order result : kOrders)
        for (const ElementType type : {kF32, kBF16, kF64, kC64, kS8, kS16, kS32}) {
          const ElementType result_type = type == kS8 || type == kS16 ? kS32 : type;
          for (const auto& [m, n, k] :
               {std::array{5, 7, 9}, std::array{3, 200, 100}, std::array{31, 70, 390}})
            expect_right({m, n, k, type, type, result_type, lhs, rhs, result});
        }
}

TEST(Matmul, EveryTypeThatIsSupported) {
  int supported = 0;
  for (int lhs = 1; lhs < kElementTypeCount; ++lhs)
    for (int rhs = 1; rhs < kElementTypeCount; ++rhs)
      for (int result = 1; result < kElementTypeCount; ++result) {
        const auto type = [](int i) { return static_cast<ElementType>(i); };
        if (!matmul_supports(type(lhs), type(rhs), type(result))) continue;
        ++supported;
        const bool same = lhs == rhs || lhs % 5 == 0;
        expect_right({7, 20, 37, type(lhs), type(rhs), type(result)});
        if (same)
          expect_right({30, 70, 35, type(lhs), type(rhs), type(result), Order::kRows, Order::kColumns});
      }
  EXPECT_GT(supported, 900);
}

TEST(Matmul, WhatIsAndIsNotSupported) {
  EXPECT_TRUE(matmul_supports(kF8E5M2, kF8E4M3FN, kBF16));
  EXPECT_TRUE(matmul_supports(kS8, kU8, kS32));
  EXPECT_TRUE(matmul_supports(kPred, kPred, kPred));
  EXPECT_FALSE(matmul_supports(kF32, kF32, kF64));
  EXPECT_FALSE(matmul_supports(kF32, kF32, kF8E5M2));
  EXPECT_FALSE(matmul_supports(kU16, kU16, kU32));
  EXPECT_FALSE(matmul_supports(kS8, kS8, kPred));
  EXPECT_FALSE(matmul_supports(kS32, kF32, kF32));
  EXPECT_FALSE(matmul_supports(kC64, kF32, kC64));
}

TEST(Matmul, ExtremeIntegersWrap) {
  for (const NamedLevel& level : levels()) {
    for (const int64_t k : {3, 4, 1000}) {
      const std::vector<int8_t> low(static_cast<size_t>(k), -128);
      const std::vector<uint8_t> high(static_cast<size_t>(k), 255);
      const std::vector<int16_t> low16(static_cast<size_t>(k), -32768);
      const auto dot = [&](const void* lhs, ElementType lhs_type, const void* rhs, ElementType rhs_type) {
        int32_t result = 0;
        matmul({1, 1, k, {lhs, lhs_type, k, 1}, {rhs, rhs_type, 1, 1}, {&result, kS32, 1, 1}}, level.level);
        return result;
      };
      EXPECT_EQ(dot(low.data(), kS8, low.data(), kS8), 128 * 128 * k) << level.name;
      EXPECT_EQ(dot(high.data(), kU8, low.data(), kS8), -255 * 128 * k) << level.name;
      EXPECT_EQ(dot(low.data(), kS8, high.data(), kU8), -255 * 128 * k) << level.name;
      EXPECT_EQ(dot(high.data(), kU8, high.data(), kU8), 255 * 255 * k) << level.name;
      EXPECT_EQ(dot(low16.data(), kS16, low16.data(), kS16), static_cast<int32_t>(uint64_t(k) << 30))
          << level.name;
    }
  }
}

TEST(Matmul, BatchesOfSeveralDimensions) {
  expect_right({5, 7, 9, kF32, kF32, kF32, Order::kRows, Order::kColumns, Order::kRows, 13});
  expect_right({50, 170, 90, kBF16, kBF16, kBF16, Order::kRows, Order::kRows, Order::kRows, 5});
  // lhs [2,3,4,5] · rhs [3,5,6], the outer dimension without a stride of its own → [3,2,4,6]
  std::vector<float> lhs(120), rhs(90), result(144, -1);
  for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = static_cast<float>(i % 7);
  for (size_t i = 0; i < rhs.size(); ++i) rhs[i] = static_cast<float>(i % 5);
  const MatmulBatch batch[] = {{3, 20, 30, 48}, {2, 60, 0, 24}};
  matmul({4, 6, 5, {lhs.data(), kF32, 5, 1}, {rhs.data(), kF32, 6, 1}, {result.data(), kF32, 6, 1}, batch});
  for (size_t a = 0; a < 2; ++a)
    for (size_t b = 0; b < 3; ++b)
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 6; ++j) {
          float sum = 0;
          for (size_t p = 0; p < 5; ++p) sum += lhs[a * 60 + b * 20 + i * 5 + p] * rhs[b * 30 + p * 6 + j];
          EXPECT_EQ(result[b * 48 + a * 24 + i * 6 + j], sum);
        }
}

TEST(Matmul, SumsStayInF32UntilTheEnd) {
  // 256 + 1 is no bf16, but 256 + 1 + 1 is: rounding in between would lose both ones.
  for (const auto& [m, n] : {std::pair{1, 1}, std::pair{40, 64}}) {
    const int64_t k = 900;
    std::vector<uint16_t> lhs(static_cast<size_t>(m * k), 0), rhs(static_cast<size_t>(k * n), 0x3f80);
    std::vector<uint16_t> result(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < m; ++i) {
      lhs[static_cast<size_t>(i * k)] = 0x4380;
      lhs[static_cast<size_t>(i * k + 1)] = lhs[static_cast<size_t>(i * k + k - 1)] = 0x3f80;
    }
    for (const NamedLevel& level : levels()) {
      matmul({m, n, k, {lhs.data(), kBF16, k, 1}, {rhs.data(), kBF16, n, 1}, {result.data(), kBF16, n, 1}},
             level.level);
      for (const uint16_t element : result) EXPECT_EQ(element, 0x4381) << level.name;
    }
  }
}

TEST(Matmul, RealNumbersWithinTheBoundOfTheirSums) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const auto& [m, n, k] :
       {std::array{3, 500, 700}, std::array{40, 50, 60}, std::array{130, 200, 1000}}) {
    std::vector<float> lhs(static_cast<size_t>(m * k)), rhs(static_cast<size_t>(k * n)),
        result(static_cast<size_t>(m * n));
    for (float& x : lhs) x = uniform(random);
    for (float& x : rhs) x = uniform(random);
    for (const NamedLevel& level : levels()) {
      matmul({m, n, k, {lhs.data(), kF32, k, 1}, {rhs.data(), kF32, n, 1}, {result.data(), kF32, n, 1}},
             level.level);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0, magnitude = 0;
          for (int p = 0; p < k; ++p) {
            const double term =
                double{lhs[static_cast<size_t>(i * k + p)]} * rhs[static_cast<size_t>(p * n + j)];
            sum += term;
            magnitude += std::abs(term);
          }
          ASSERT_NEAR(result[static_cast<size_t>(i * n + j)], sum, magnitude * k * 0x1p-24) << level.name;
        }
    }
  }
}

TEST(Matmul, TheNumberOfThreadsDoesNotShow) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const auto& [m, n, k] :
       {std::array{8, 3000, 300}, std::array{300, 8, 3000}, std::array{700, 300, 1000},
        std::array{300, 1500, 500}, std::array{3000, 100, 900}}) {
    std::vector<float> lhs(static_cast<size_t>(m * k)), rhs(static_cast<size_t>(k * n));
    for (float& x : lhs) x = uniform(random);
    for (float& x : rhs) x = uniform(random);
    for (const NamedLevel& level : levels()) {
      std::vector<float> first, result(static_cast<size_t>(m * n));
      for (const int threads : {1, 2, 5}) {
        set_thread_count(threads);
        std::fill(result.begin(), result.end(), -1.0f);
        matmul({m, n, k, {lhs.data(), kF32, k, 1}, {rhs.data(), kF32, n, 1}, {result.data(), kF32, n, 1}},
               level.level);
        if (first.empty()) first = result;
        EXPECT_TRUE(result == first) << m << " " << n << " " << k << " with " << threads << " threads on "
                                     << level.name;
      }
      set_thread_count(0);
    }
  }
}

TEST(FloatCodes, KnownValues) {
  EXPECT_EQ(float_codes(kF8E4M3FN)[0x7e], 448);
  EXPECT_TRUE(std::isnan(float_codes(kF8E4M3FN)[0x7f]));
  EXPECT_EQ(float_codes(kF8E5M2)[0x7c], INFINITY);
  EXPECT_EQ(float_codes(kF8E5M2)[0x01], 0x1p-16f);
  EXPECT_EQ(float_codes(kF8E4M3FNUZ)[0x7f], 240);
  EXPECT_TRUE(std::isnan(float_codes(kF8E5M2FNUZ)[0x80]));
  EXPECT_EQ(float_codes(kF8E4M3B11FNUZ)[0x7f], 30);
  EXPECT_EQ(float_codes(kF8E3M4)[0x6f], 15.5f);
  EXPECT_EQ(float_codes(kF8E4M3)[0x77], 240);
  EXPECT_EQ(float_codes(kF4E2M1FN)[0xf], -6);
  EXPECT_EQ(float_codes(kF6E2M3FN)[0x1f], 7.5f);
  EXPECT_EQ(float_codes(kF6E3M2FN)[0x1f], 28);
  EXPECT_EQ(float_codes(kF8E8M0FNU)[0], 0x1p-127f);
  EXPECT_EQ(float_codes(kF32), nullptr);
}

}  // namespace
}  // namespace hlosim
