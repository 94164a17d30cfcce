// The kernels' conversions of small floats against the reader's definition of the formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_kernels/element.h"
#include "hlo/literal.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

std::vector<ElementType> small_floats() {
  std::vector<ElementType> types;
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (is_float(type) && bit_width(type) <= 16) types.push_back(type);
  }
  return types;
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& x, ElementType from, ElementType to) {
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  std::vector<To> out(x.size());
  const void* const in[] = {x.data()};
  kernel.fn(out.data(), in, kernel.immediate, static_cast<int64_t>(x.size()));
  return out;
}

/// Codes of `type` as numbers.
template <class From>
std::vector<uint64_t> encoded(const std::vector<From>& x, ElementType from, ElementType type) {
  std::vector<uint64_t> codes;
  if (byte_width(type) == 1)
    for (const uint8_t code : converted<uint8_t>(x, from, type)) codes.push_back(code);
  else
    for (const uint16_t code : converted<uint16_t>(x, from, type)) codes.push_back(code);
  return codes;
}

std::vector<float> values_of_all_codes(ElementType type) {
  std::vector<uint16_t> wide;
  std::vector<uint8_t> narrow;
  for (uint32_t code = 0; code < 1u << bit_width(type); ++code) {
    wide.push_back(static_cast<uint16_t>(code));
    narrow.push_back(static_cast<uint8_t>(code));
  }
  return byte_width(type) == 1 ? converted<float>(narrow, type, ElementType::kF32)
                               : converted<float>(wide, type, ElementType::kF32);
}

TEST(FloatFormats, DecodeAllCodes) {
  for (const ElementType type : small_floats()) {
    const std::vector<float> values = values_of_all_codes(type);
    for (size_t code = 0; code < values.size(); ++code) {
      const double expected = decode_float(type, code);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(values[code])) << to_text(type) << " " << code;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(values[code]),
                  std::bit_cast<uint32_t>(static_cast<float>(expected)))
            << to_text(type) << " " << code;
      }
    }
  }
}

template <class From>
void expect_encoded(const std::vector<From>& x, ElementType from, ElementType type) {
  const std::vector<uint64_t> codes = encoded(x, from, type);
  for (size_t i = 0; i < x.size(); ++i) {
    bool overflow = false;
    ASSERT_EQ(codes[i], encode_float(type, x[i], overflow)) << to_text(type) << " of " << x[i];
  }
}

/// All codes' values, the middles between neighbours, and what is next to either.
template <class T>
std::vector<T> around_all_codes(ElementType type) {
  std::vector<T> values;
  const std::vector<float> exact = values_of_all_codes(type);
  for (size_t i = 0; i + 1 < exact.size(); ++i)
    for (const T x : {T{exact[i]}, T{exact[i]} + (T{exact[i + 1]} - T{exact[i]}) / 2}) {
      values.push_back(x);
      values.push_back(std::nextafter(x, T{1e38f}));
      values.push_back(std::nextafter(x, T{-1e38f}));
    }
  return values;
}

TEST(FloatFormats, EncodeAroundAllCodes) {
  for (const ElementType type : small_floats()) {
    expect_encoded(around_all_codes<float>(type), ElementType::kF32, type);
    // 16-bit types are rounded to f32 first.
    if (bit_width(type) <= 8) expect_encoded(around_all_codes<double>(type), ElementType::kF64, type);
  }
}

TEST(FloatFormats, EncodeTheWholeRange) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 40009)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN}) x.push_back(special);
  const std::vector<double> wide(x.begin(), x.end());
  for (const ElementType type : small_floats()) {
    expect_encoded(x, ElementType::kF32, type);
    expect_encoded(wide, ElementType::kF64, type);
  }
  std::vector<double> beyond = {1e300, -1e300, 1e-300, -1e-300, 5e-324, 0x1p-127, 0x1p128};
  for (const ElementType type : small_floats()) expect_encoded(beyond, ElementType::kF64, type);
}

/// A literal of many elements spells each code once.
TEST(FloatFormats, LargeLiteralsSayWhatTheirElementsSay) {
  for (const ElementType type : small_floats()) {
    const auto codes = size_t{1} << bit_width(type), width = static_cast<size_t>(byte_width(type));
    const size_t count = std::max<size_t>(2 * codes, 5000);
    std::vector<std::byte> data(count * width);
    std::string expected = "{";
    for (size_t i = 0; i < count; ++i) {
      const uint64_t code = i % codes;
      std::memcpy(data.data() + i * width, &code, width);
      if (i > 0) expected += ", ";
      append_float(expected, type, code);
    }
    ShapePool shapes;
    Literal literal;
    const int64_t dimensions[] = {static_cast<int64_t>(count)};
    literal.shape = shapes.array(type, dimensions);
    literal.data = data;
    EXPECT_EQ(to_text(literal), expected + "}") << to_text(type);
  }
}

TEST(FloatFormats, F32AsTheProcessorRounds) {
  bool overflow = false;
  for (const double value : {1.0, -0.1, 1e-40, -1e-46, 3.4028235677973362e38, 0.0, -0.0}) {
    EXPECT_EQ(encode_float(ElementType::kF32, value, overflow),
              std::bit_cast<uint32_t>(static_cast<float>(value)))
        << value;
    EXPECT_FALSE(overflow) << value;
  }
  EXPECT_EQ(encode_float(ElementType::kF32, 1e39, overflow), 0x7f800000u);
  EXPECT_TRUE(overflow);
}

}  // namespace
}  // namespace hlosim
