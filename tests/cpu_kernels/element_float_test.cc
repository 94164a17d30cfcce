// Floats: f32 functions against the f64 ones of the C library, small floats by exhaustion, and the rules
// about NaN, signed zeros, infinities and saturation.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "elements.h"

namespace hlosim {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double cube_root(double x) { return static_cast<double>(std::cbrt(static_cast<long double>(x))); }
double square_root(double x) { return std::sqrt(x); }

struct Function {
  ElementOp op;
  double (*exact)(double);
  double ulps;  // largest error of f32, in units of the last place
};
/// Half an ulp is a correct rounding; what computes in f64 is that but for near ties.
const Function kFunctions[] = {
    {ElementOp::kExp, std::exp, 1},          {ElementOp::kExpMinusOne, std::expm1, 0.51},
    {ElementOp::kLog, std::log, 1},          {ElementOp::kLogPlusOne, std::log1p, 0.51},
    {ElementOp::kLogistic, logistic, 2.5},   {ElementOp::kErf, std::erf, 2.5},
    {ElementOp::kSqrt, square_root, 0.5},    {ElementOp::kRsqrt, rsqrt, 1.5},
    {ElementOp::kCbrt, cube_root, 0.51},     {ElementOp::kSin, std::sin, 0.51},
    {ElementOp::kCos, std::cos, 0.51},       {ElementOp::kTan, std::tan, 0.51},
    {ElementOp::kAsin, std::asin, 0.51},     {ElementOp::kAcos, std::acos, 0.51},
    {ElementOp::kSinh, std::sinh, 0.51},     {ElementOp::kCosh, std::cosh, 0.51},
    {ElementOp::kTanh, std::tanh, 2.7},      {ElementOp::kAsinh, std::asinh, 0.51},
    {ElementOp::kAcosh, std::acosh, 0.51},   {ElementOp::kAtanh, std::atanh, 0.51},
    {ElementOp::kCeil, std::ceil, 0},        {ElementOp::kFloor, std::floor, 0},
    {ElementOp::kRoundToEven, std::rint, 0}, {ElementOp::kRoundAwayFromZero, std::round, 0},
};

/// Distance of `got` from `exact` in units in the last place of f32 there; signs of zero and specials must
/// agree.
double ulps(float got, double exact) {
  constexpr double kWrong = 1e9;
  const float nearest = static_cast<float>(exact);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) == std::isnan(got) ? 0 : kWrong;
  if (nearest == got) return nearest != 0 || std::signbit(nearest) == std::signbit(got) ? 0.0 : kWrong;
  if (std::isinf(nearest) || std::isinf(got))
    return std::fabs(got) >= kMost && std::fabs(exact) >= kMost ? 1 : kWrong;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

TEST(ElementFloat, FunctionsAreWithinTheirErrorOverTheWholeRange) {
  std::vector<float> x = {0.0f,   -0.0f,  1.0f,    -1.0f,     kInf,      -kInf,     kNan,        kMost,
                          -kMost, kLeast, -kLeast, 0x1p-126f, 88.72284f, -87.4f,    -103.97f,    -103.98f,
                          0.5f,   -0.5f,  1.5f,    2.5f,      0x1p22f,   0x1.8p22f, 0.49999997f, 8388609.0f};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 20011)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const Function& f : kFunctions) {
    const auto y = run_kernel<float>(element_kernel(f.op, ElementType::kF32, ElementType::kF32), x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], f.exact(x[i])), f.ulps)
          << "op " << static_cast<int>(f.op) << " of " << x[i] << ": " << y[i];
  }
}

TEST(ElementFloat, FunctionsOfDoublesAreTheLibrarys) {
  std::mt19937_64 random(1);
  std::vector<double> x = {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNan, 1e308, -1e308, 5e-324, 800, -800};
  for (int i = 0; i < 5000; ++i) x.push_back(std::bit_cast<double>(random()));
  for (int i = 0; i < 5000; ++i) x.push_back(std::ldexp(static_cast<double>(random() >> 11), -53) * 8 - 4);
  for (const Function& f : kFunctions) {
    const auto y = run_kernel<double>(element_kernel(f.op, ElementType::kF64, ElementType::kF64), x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(x[i]);
      if (f.op == ElementOp::kLogistic && exact > 0) {
        ASSERT_NEAR(y[i] / exact, 1, 1e-13) << x[i];  // logistic() above loses a little
      } else if (f.op != ElementOp::kLogistic || std::isnan(exact)) {
        ASSERT_TRUE(same(y[i], exact)) << "op " << static_cast<int>(f.op) << " of " << x[i] << ": " << y[i];
      }
    }
  }
}

std::vector<ElementType> small_floats() {
  std::vector<ElementType> types;
  for (const ElementType type : all_types())
    if (is_float(type) && bit_width(type) <= 16) types.push_back(type);
  return types;
}

/// All codes of a small float, one per element.
std::vector<std::byte> all_codes(ElementType type) {
  const auto width = static_cast<size_t>(byte_width(type));
  const uint32_t count = 1u << bit_width(type);
  std::vector<std::byte> codes(count * width);
  for (uint32_t i = 0; i < count; ++i) std::memcpy(codes.data() + i * width, &i, width);
  return codes;
}

std::vector<std::byte> converted(const void* data, int64_t n, ElementType from, ElementType to) {
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  std::vector<std::byte> out(static_cast<size_t>(n * byte_width(to)));
  const void* const in[] = {data};
  kernel.fn(out.data(), in, kernel.immediate, n);
  return out;
}

std::vector<float> as_f32(const std::vector<std::byte>& data, ElementType type) {
  const auto n = static_cast<int64_t>(data.size()) / byte_width(type);
  std::vector<float> values(static_cast<size_t>(n));
  const auto bytes = converted(data.data(), n, type, ElementType::kF32);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(ElementFloat, FunctionsOfSmallFloatsAreThoseOfF32RoundedOnce) {
  for (const ElementType type : small_floats()) {
    const auto codes = all_codes(type);
    const std::vector<float> x = as_f32(codes, type);
    const auto n = static_cast<int64_t>(x.size());
    for (const Function& f : kFunctions) {
      const ElementKernel kernel = element_kernel(f.op, type, type);
      ASSERT_TRUE(kernel);
      std::vector<std::byte> y(codes.size());
      const void* const in[] = {codes.data()};
      kernel.fn(y.data(), in, kernel.immediate, n);
      std::vector<float> exact(x.size());
      for (size_t i = 0; i < x.size(); ++i) exact[i] = static_cast<float>(f.exact(x[i]));
      const auto expected = converted(exact.data(), n, ElementType::kF32, type);
      // An f32 error near the middle between two codes may take the other one.
      const std::vector<float> got = as_f32(y, type), want = as_f32(expected, type);
      int different = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (same(got[i], want[i])) continue;
        // Where there is no NaN it is a zero, of any sign.
        if (std::isnan(exact[i]) && got[i] == 0 && want[i] == 0) continue;
        ++different;
        ASSERT_NEAR(got[i], want[i],
                    std::fabs(want[i]) * std::ldexp(1.0, type == ElementType::kBF16 ? -7 : -9))
            << to_text(type) << " op " << static_cast<int>(f.op) << " of " << x[i];
      }
      ASSERT_LE(different, 16) << to_text(type) << " op " << static_cast<int>(f.op);
    }
  }
}

TEST(ElementFloat, ArithmeticOfSmallFloatsIsThatOfF32RoundedOnce) {
  const ElementOp ops[] = {ElementOp::kAdd,       ElementOp::kSubtract,   ElementOp::kMultiply,
                           ElementOp::kDivide,    ElementOp::kMaximum,    ElementOp::kMinimum,
                           ElementOp::kRemainder, ElementOp::kEqual,      ElementOp::kLess,
                           ElementOp::kTotalLess, ElementOp::kTotalEqual, ElementOp::kLessEqual,
                           ElementOp::kGreater,   ElementOp::kNotEqual,   ElementOp::kGreaterEqual};
  for (const ElementType type : small_floats()) {
    const auto codes = all_codes(type);
    const auto width = static_cast<size_t>(byte_width(type));
    const size_t count = codes.size() / width, step = count > 256 ? 641 : 1;  // all pairs of up to 8 bits
    std::vector<std::byte> a, b;
    for (size_t i = 0; i < count; i += step)
      for (size_t j = 0; j < count; j += step) {
        a.insert(a.end(), &codes[i * width], &codes[i * width] + width);
        b.insert(b.end(), &codes[j * width], &codes[j * width] + width);
      }
    const auto n = static_cast<int64_t>(a.size() / width);
    const std::vector<float> x = as_f32(a, type), y = as_f32(b, type);
    for (const ElementOp op : ops) {
      const bool to_pred = op >= ElementOp::kEqual;
      const ElementKernel kernel = element_kernel(op, type, to_pred ? ElementType::kPred : type);
      const ElementKernel in_f32 =
          element_kernel(op, ElementType::kF32, to_pred ? ElementType::kPred : ElementType::kF32);
      std::vector<std::byte> got(static_cast<size_t>(n) * (to_pred ? 1 : width)),
          expected(static_cast<size_t>(n) * 4);
      const void* const in[] = {a.data(), b.data()};
      const void* const in_values[] = {x.data(), y.data()};
      kernel.fn(got.data(), in, kernel.immediate, n);
      in_f32.fn(expected.data(), in_values, in_f32.immediate, n);
      expected.resize(static_cast<size_t>(n) * (to_pred ? 1 : 4));
      if (!to_pred) expected = converted(expected.data(), n, ElementType::kF32, type);
      ASSERT_TRUE(same_elements(to_pred ? ElementType::kPred : type, got, expected))
          << to_text(type) << " op " << static_cast<int>(op);
    }
  }
}

ElementKernel f32(ElementOp op) { return element_kernel(op, ElementType::kF32, ElementType::kF32); }
ElementKernel f32_to_pred(ElementOp op) { return element_kernel(op, ElementType::kF32, ElementType::kPred); }

TEST(ElementFloat, NanWinsInMaximumMinimumAndClamp) {
  const std::vector<float> x = {1, kNan, 1, kNan, -kInf, kInf}, y = {kNan, 1, 2, kNan, kNan, 1};
  EXPECT_THAT(run_kernel<float>(f32(ElementOp::kMaximum), x, y),
              ElementsAre(testing::IsNan(), testing::IsNan(), 2, testing::IsNan(), testing::IsNan(), kInf));
  EXPECT_THAT(run_kernel<float>(f32(ElementOp::kMinimum), x, y),
              ElementsAre(testing::IsNan(), testing::IsNan(), 1, testing::IsNan(), testing::IsNan(), 1));
  const std::vector<float> low = {kNan, 0, 0, 3, 0}, value = {1, kNan, 1, 1, 5}, high = {2, 2, kNan, 2, 2};
  EXPECT_THAT(run_kernel<float>(f32(ElementOp::kClamp), low, value, high),
              ElementsAre(testing::IsNan(), testing::IsNan(), testing::IsNan(), 2, 2));
}

TEST(ElementFloat, ComparisonsWithNanAreFalseButForUnequal) {
  const std::vector<float> x = {kNan, 1, kNan, 0.0f, 1}, y = {1, kNan, kNan, -0.0f, 2};
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kEqual), x, y), ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kNotEqual), x, y), ElementsAre(1, 1, 1, 0, 1));
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kLess), x, y), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kLessEqual), x, y), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kGreater), x, y), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(run_kernel<uint8_t>(f32_to_pred(ElementOp::kGreaterEqual), x, y), ElementsAre(0, 0, 0, 1, 0));
}

template <class T>
void expect_total_order(ElementType type) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> order = {std::copysign(nan, T{-1}), -inf, T{-1}, T{-0.0}, T{0.0}, T{1}, inf, nan};
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = 0; j < order.size(); ++j) {
      const auto holds = [&](ElementOp op) {
        return run_kernel<uint8_t>(element_kernel(op, type, ElementType::kPred), std::vector<T>{order[i]},
                                   std::vector<T>{order[j]})[0] != 0;
      };
      EXPECT_EQ(holds(ElementOp::kTotalLess), i < j) << i << " " << j;
      EXPECT_EQ(holds(ElementOp::kTotalLessEqual), i <= j);
      EXPECT_EQ(holds(ElementOp::kTotalGreater), i > j);
      EXPECT_EQ(holds(ElementOp::kTotalGreaterEqual), i >= j);
      EXPECT_EQ(holds(ElementOp::kTotalEqual), i == j);
      EXPECT_EQ(holds(ElementOp::kTotalNotEqual), i != j);
    }
}
TEST(ElementFloat, TotalOrderPutsNansOutside) {
  expect_total_order<float>(ElementType::kF32);
  expect_total_order<double>(ElementType::kF64);
}

TEST(ElementFloat, SignsAreKept) {
  EXPECT_THAT(run_kernel<float>(f32(ElementOp::kSign), std::vector<float>{-kInf, -2, 3, kNan}),
              ElementsAre(-1, -1, 1, testing::IsNan()));
  for (const ElementOp op :
       {ElementOp::kSign, ElementOp::kCeil, ElementOp::kRoundToEven, ElementOp::kRoundAwayFromZero,
        ElementOp::kSqrt, ElementOp::kTanh, ElementOp::kSin, ElementOp::kCbrt}) {
    const auto y = run_kernel<float>(f32(op), std::vector<float>{-0.0f, 0.0f});
    EXPECT_TRUE(std::signbit(y[0])) << static_cast<int>(op);
    EXPECT_FALSE(std::signbit(y[1])) << static_cast<int>(op);
  }
  EXPECT_TRUE(std::signbit(run_kernel<float>(f32(ElementOp::kCeil), std::vector<float>{-0.3f})[0]));
  EXPECT_EQ(run_kernel<float>(f32(ElementOp::kRsqrt), std::vector<float>{-0.0f})[0], -kInf);
  // NaN loses its sign to negate as any other number.
  EXPECT_TRUE(std::signbit(run_kernel<float>(f32(ElementOp::kNegate), std::vector<float>{kNan})[0]));
  EXPECT_FALSE(std::signbit(run_kernel<float>(f32(ElementOp::kAbs), std::vector<float>{-kNan})[0]));
}

template <class T>
std::vector<T> corner_values() {
  const double corners[] = {0, 0.5, 1, 1.5, 2, 3, 5.25, 1e-40, 1e-7, 7e7, 1e30, 3e38, kInf, kNan};
  std::vector<T> values;
  for (const double c : corners) {
    values.push_back(static_cast<T>(c));
    values.push_back(static_cast<T>(-c));
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (int i = 0; i < 300; ++i)
    values.push_back(static_cast<T>(static_cast<double>(random() % 20001) / 1000 - 10));
  return values;
}

template <class T>
void expect_function_of_two(ElementOp op, ElementType type, double (*exact)(double, double),
                            double most_ulps) {
  const std::vector<T> values = corner_values<T>();
  std::vector<T> x, y;
  for (const T a : values)
    for (const T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  const auto z = run_kernel<T>(element_kernel(op, type, type), x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = exact(x[i], y[i]);
    if constexpr (sizeof(T) == 4) {
      ASSERT_LE(ulps(z[i], want), most_ulps)
          << static_cast<int>(op) << " of " << x[i] << ", " << y[i] << ": " << z[i];
    } else {
      ASSERT_TRUE(same(z[i], want)) << static_cast<int>(op) << " of " << x[i] << ", " << y[i] << ": " << z[i];
    }
  }
}
TEST(ElementFloat, FunctionsOfTwo) {
  expect_function_of_two<float>(ElementOp::kPower, ElementType::kF32, std::pow, 0.51);
  expect_function_of_two<float>(ElementOp::kAtan2, ElementType::kF32, std::atan2, 0.51);
  expect_function_of_two<float>(ElementOp::kRemainder, ElementType::kF32, std::fmod, 0);
  expect_function_of_two<double>(ElementOp::kPower, ElementType::kF64, std::pow, 0);
  expect_function_of_two<double>(ElementOp::kAtan2, ElementType::kF64, std::atan2, 0);
  expect_function_of_two<double>(ElementOp::kRemainder, ElementType::kF64, std::fmod, 0);
}

TEST(ElementFloat, IsFinite) {
  for (const ElementType type : small_floats()) {
    const auto codes = all_codes(type);
    const std::vector<float> x = as_f32(codes, type);
    std::vector<uint8_t> finite(x.size());
    const void* const in[] = {codes.data()};
    const ElementKernel kernel = element_kernel(ElementOp::kIsFinite, type, ElementType::kPred);
    kernel.fn(finite.data(), in, kernel.immediate, static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(finite[i] != 0, std::isfinite(x[i])) << to_text(type) << " " << i;
  }
}

TEST(ElementFloat, ReducePrecision) {
  const auto reduced = [](int exponent_bits, int mantissa_bits, std::vector<float> x) {
    return run_kernel<float>(element_kernel(ElementOp::kReducePrecision, ElementType::kF32, ElementType::kF32,
                                            reduce_precision_immediate(exponent_bits, mantissa_bits)),
                             x);
  };
  // Two mantissa bits: ties to even, and a carry into the exponent.
  EXPECT_THAT(reduced(8, 2, {1.125f, 1.375f, 1.126f, 1.875f, -1.125f, 3e-39f}),
              ElementsAre(1.0f, 1.5f, 1.25f, 2.0f, -1.0f, 0x1p-128f));
  // Five exponent bits as in f16: 2^-14 is the smallest normal number, 65504 the largest of 10 mantissa bits.
  EXPECT_THAT(reduced(5, 10, {65504.0f, 65520.0f, -65520.0f, 0x1p-14f, 0x1.ffcp-15f, -0x1p-15f, kInf, kNan}),
              ElementsAre(65504.0f, kInf, -kInf, 0x1p-14f, 0.0f, -0.0f, kInf, testing::IsNan()));
  EXPECT_TRUE(std::signbit(reduced(5, 10, {-0x1p-15f})[0]));
  // No mantissa bits: ties to an even exponent (2^0 has the odd code 127), and NaN has no room.
  EXPECT_THAT(reduced(8, 0, {1.5f, 3.0f, kNan}), ElementsAre(2.0f, 2.0f, kInf));
  // More bits than there are.
  EXPECT_THAT(reduced(11, 52, {kMost, kLeast, 1.0000001f}), ElementsAre(kMost, kLeast, 1.0000001f));
}

TEST(ElementFloat, ReducePrecisionOfSmallFloatsEqualsConvertingThereAndBack) {
  // bf16 to the exponents and mantissa of f8e5m2; subnormals of the latter become zero.
  const auto codes = all_codes(ElementType::kBF16);
  const std::vector<float> x = as_f32(codes, ElementType::kBF16);
  const auto n = static_cast<int64_t>(x.size());
  const ElementKernel kernel = element_kernel(ElementOp::kReducePrecision, ElementType::kBF16,
                                              ElementType::kBF16, reduce_precision_immediate(5, 2));
  std::vector<std::byte> y(codes.size());
  const void* const in[] = {codes.data()};
  kernel.fn(y.data(), in, kernel.immediate, n);
  const std::vector<float> got = as_f32(y, ElementType::kBF16);
  const std::vector<float> there =
      as_f32(converted(codes.data(), n, ElementType::kBF16, ElementType::kF8E5M2), ElementType::kF8E5M2);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool subnormal = std::fabs(there[i]) < 0x1p-14f;
    // What rounds up to the smallest normal number has to be rounded with all mantissa bits before.
    if (std::fabs(x[i]) < 0x1p-14f && !subnormal) continue;
    ASSERT_TRUE(same(got[i], subnormal ? std::copysign(0.0f, x[i]) : there[i])) << x[i] << " " << got[i];
  }
}

TEST(ElementFloat, ConversionsToIntegersTruncateAndSaturate) {
  const auto to = [](ElementType type, std::vector<double> x, ElementType from) {
    const auto n = static_cast<int64_t>(x.size());
    const auto source = converted(x.data(), n, ElementType::kF64, from);
    const auto out = converted(source.data(), n, from, type);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < n; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, out.data() + i * byte_width(type), static_cast<size_t>(byte_width(type)));
      values.push_back(static_cast<int64_t>(is_signed_integer(type) ? stored_code(type, bits) : bits));
    }
    return values;
  };
  for (const ElementType from : {ElementType::kF32, ElementType::kF64, ElementType::kBF16}) {
    const std::vector<double> x = {kNan, -1.75, 1.75, -0.5, kInf, -kInf, 1e30, -1e30, 100};
    const auto expect = [&](ElementType type, int64_t least, int64_t most) {
      const bool has_sign = least < 0;
      const auto in_range = [&](int64_t v) {
        return !has_sign && static_cast<uint64_t>(most) > uint64_t{1} << 63 ? v : std::clamp(v, least, most);
      };
      EXPECT_THAT(to(type, x, from), ElementsAre(0, has_sign ? in_range(-1) : 0, in_range(1), 0, most, least,
                                                 most, least, in_range(100)))
          << to_text(from) << " " << to_text(type);
    };
    expect(ElementType::kS1, -1, 0);
    expect(ElementType::kS2, -2, 1);
    expect(ElementType::kS4, -8, 7);
    expect(ElementType::kS8, -128, 127);
    expect(ElementType::kS16, -32768, 32767);
    expect(ElementType::kS32, INT32_MIN, INT32_MAX);
    expect(ElementType::kS64, INT64_MIN, INT64_MAX);
    expect(ElementType::kU1, 0, 1);
    expect(ElementType::kU2, 0, 3);
    expect(ElementType::kU4, 0, 15);
    expect(ElementType::kU8, 0, 255);
    expect(ElementType::kU16, 0, 65535);
    expect(ElementType::kU32, 0, UINT32_MAX);
    expect(ElementType::kU64, 0, static_cast<int64_t>(UINT64_MAX));
  }
  // At the edges.
  EXPECT_THAT(to(ElementType::kS32, {2147483520.0, 2147483648.0, -2147483648.0}, ElementType::kF32),
              ElementsAre(2147483520, INT32_MAX, INT32_MIN));
  EXPECT_THAT(to(ElementType::kS32, {2147483646.9, 2147483647.5, -2147483648.9}, ElementType::kF64),
              ElementsAre(2147483646, INT32_MAX, INT32_MIN));
  EXPECT_THAT(to(ElementType::kU32, {4294967040.0, 4294967296.0, 3e9}, ElementType::kF32),
              ElementsAre(4294967040, UINT32_MAX, 3000000000));
  EXPECT_THAT(to(ElementType::kS64, {0x1.fffffep62, 0x1p63, -0x1p63}, ElementType::kF32),
              ElementsAre(0x7fffff8000000000, INT64_MAX, INT64_MIN));
  EXPECT_THAT(to(ElementType::kPred, {0, -0.0, 1e-40, kNan, -3}, ElementType::kF32),
              ElementsAre(0, 0, 1, 1, 1));
}

TEST(ElementFloat, ConversionsFromIntegersRoundOnce) {
  // Between two f32; by way of f64 this would be rounded twice, the first time to a tie.
  const std::vector<int64_t> x = {(int64_t{1} << 60) + (int64_t{1} << 36) + 1, -16777217, INT64_MIN, 3};
  EXPECT_THAT(run_kernel<float>(element_kernel(ElementOp::kConvert, ElementType::kS64, ElementType::kF32), x),
              ElementsAre(0x1.000002p60f, -16777216.0f, -0x1p63f, 3.0f));
  const std::vector<uint64_t> u = {UINT64_MAX, uint64_t{1} << 63};
  EXPECT_THAT(run_kernel<float>(element_kernel(ElementOp::kConvert, ElementType::kU64, ElementType::kF32), u),
              ElementsAre(0x1p64f, 0x1p63f));
  const std::vector<uint32_t> w = {UINT32_MAX, 0x80000081};
  EXPECT_THAT(run_kernel<float>(element_kernel(ElementOp::kConvert, ElementType::kU32, ElementType::kF32), w),
              ElementsAre(0x1p32f, 0x1.000002p31f));
  const std::vector<uint8_t> p = {0, 1};
  EXPECT_THAT(
      run_kernel<double>(element_kernel(ElementOp::kConvert, ElementType::kPred, ElementType::kF64), p),
      ElementsAre(0.0, 1.0));
}

TEST(ElementFloat, StochasticConvertRoundsUpBelowTheFraction) {
  const ElementKernel kernel =
      element_kernel(ElementOp::kStochasticConvert, ElementType::kF32, ElementType::kS8);
  const std::vector<float> x = {1.25f, 1.25f, -1.25f, -1.25f, 126.5f, 127.5f,
                                1e9f,  -1e9f, kInf,   -kInf,  kNan,   2.0f};
  const uint32_t quarter = 0x40000000;
  const std::vector<uint32_t> r = {quarter - 1, quarter, quarter - 1, quarter, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(run_kernel<int8_t>(kernel, x, r),
            (std::vector<int8_t>{2, 1, -2, -1, 127, 127, 127, -128, 127, -128, 0, 2}));
  const ElementKernel half =
      element_kernel(ElementOp::kStochasticConvert, ElementType::kF16, ElementType::kS4);
  // 2.5, 7.5, -8, 9 in f16.
  EXPECT_THAT(run_kernel<int8_t>(half, std::vector<uint16_t>{0x4100, 0x4100, 0x4780, 0xc800, 0x4880},
                                 std::vector<uint16_t>{0x7fff, 0x8000, 0, 0, 0}),
              ElementsAre(3, 2, 7, -8, 7));
}

}  // namespace
}  // namespace hlosim
