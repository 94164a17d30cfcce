#include "array/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "array/element_values.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

class Arguments : public ::testing::Test {
 protected:
  ShapeRef shape(ElementType type, std::vector<int64_t> sizes) { return shapes_.array(type, sizes); }
  static std::string bytes(const Array& array) {
    return {reinterpret_cast<const char*>(array.bytes()), static_cast<size_t>(data_bytes(array.shape))};
  }
  static std::vector<double> numbers(const Array& array) {
    std::vector<double> out(static_cast<size_t>(array.count() * (is_complex(array.type()) ? 2 : 1)));
    if (is_integer(array.type()) || is_pred(array.type()))
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<double>(integer_at(array, static_cast<int64_t>(i)));
    else
      decode_floats(array.type(), array.bytes(), 0, array.count(), out.data());
    return out;
  }

  ShapePool shapes_;
  MemoryPool pool_;
};

std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (int t = 1; t < kElementTypeCount; ++t) types.push_back(static_cast<ElementType>(t));
  return types;
}

// The header's formula, in its own words.
TEST_F(Arguments, RandomElementsAreOutputsOfSplitMix64) {
  const auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  uint64_t state = mix(5) ^ mix(2 + (uint64_t{1} << 63));
  const Array f32 = random_array(shape(ElementType::kF32, {100}), 5, 2, pool_);
  const Array s32 = random_array(shape(ElementType::kS32, {100}), 5, 2, pool_);
  const Array bf16 = random_array(shape(ElementType::kBF16, {100}), 5, 2, pool_);
  const Array c64 = random_array(shape(ElementType::kC64, {50}), 5, 2, pool_);
  for (int i = 0; i < 100; ++i) {
    const uint64_t r = mix(state += 0x9e3779b97f4a7c15);
    EXPECT_EQ(f32.as<float>()[i], static_cast<double>(r >> 40) / 8388608.0 - 1.0);
    EXPECT_EQ(c64.as<float>()[i], f32.as<float>()[i]);
    EXPECT_EQ(s32.as<int32_t>()[i], static_cast<int32_t>(r >> 61));
    EXPECT_EQ(numbers(bf16)[static_cast<size_t>(i)], static_cast<double>(r >> 56) / 128.0 - 1.0);
  }
}

TEST_F(Arguments, RandomValuesKeepWithinTheirRange) {
  for (const ElementType type : all_types()) {
    const std::vector<double> values = numbers(random_array(shape(type, {4000}), 1, 0, pool_));
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const size_t distinct = std::set<double>(values.begin(), values.end()).size();
    SCOPED_TRACE(to_text(type));
    if (is_pred(type)) {
      EXPECT_EQ(distinct, 2u);
    } else if (is_integer(type)) {
      const double largest = std::ldexp(1.0, bit_width(type) - (is_signed_integer(type) ? 1 : 0)) - 1;
      EXPECT_EQ(*low, 0);
      EXPECT_EQ(*high, std::min(7.0, largest));
    } else if (type == ElementType::kF8E8M0FNU) {
      EXPECT_EQ(*low, 0.125);
      EXPECT_EQ(*high, 1);
      EXPECT_EQ(distinct, 4u);
    } else {
      EXPECT_GE(*low, -1);
      EXPECT_LT(*low, -0.4);
      EXPECT_LT(*high, 1);
      EXPECT_GE(*high, 0.5);
      if (is_float(type) && bit_width(type) < 16) {
        EXPECT_EQ(distinct, size_t{2} << float_limits(type).mantissa_bits);
      }
    }
  }
}

TEST_F(Arguments, RandomArraysDependOnSeedStreamAndIndexAlone) {
  const ShapeRef large = shape(ElementType::kF64, {200000});
  set_thread_count(1);
  const std::string one = bytes(random_array(large, 7, 3, pool_));
  set_thread_count(2);
  EXPECT_EQ(bytes(random_array(large, 7, 3, pool_)), one);
  set_thread_count(0);
  EXPECT_EQ(bytes(random_array(shape(ElementType::kF64, {100, 5}), 7, 3, pool_)), one.substr(0, 4000));
  EXPECT_NE(bytes(random_array(large, 8, 3, pool_)), one);
  EXPECT_NE(bytes(random_array(large, 7, 4, pool_)), one);
  EXPECT_NE(bytes(random_array(large, 3, 7, pool_)), one);
}

// Every element is a number that the type has: decoding and counting on again gives the documented sequence.
TEST_F(Arguments, IotaCountsAsFarAsTheTypeCan) {
  const std::pair<ElementType, int64_t> periods[] = {
      {ElementType::kPred, 2},      {ElementType::kS1, 1},        {ElementType::kS2, 2},
      {ElementType::kS4, 8},        {ElementType::kU4, 16},       {ElementType::kS8, 128},
      {ElementType::kU8, 256},      {ElementType::kS32, 1 << 30}, {ElementType::kF4E2M1FN, 4},
      {ElementType::kF6E2M3FN, 8},  {ElementType::kF6E3M2FN, 8},  {ElementType::kF8E3M4, 16},
      {ElementType::kF8E4M3FN, 16}, {ElementType::kF8E5M2, 8},    {ElementType::kF8E4M3B11FNUZ, 16},
      {ElementType::kBF16, 256},    {ElementType::kF16, 2048},    {ElementType::kF32, 1 << 24},
      {ElementType::kF64, 1 << 30}};
  for (const auto& [type, period] : periods) {
    const std::vector<double> values = numbers(iota_array(shape(type, {3, 1000}), pool_));
    for (size_t k = 0; k < values.size(); ++k)
      ASSERT_EQ(values[k], static_cast<double>(static_cast<int64_t>(k) % period))
          << to_text(type) << " element " << k;
  }
  EXPECT_THAT(numbers(iota_array(shape(ElementType::kF8E8M0FNU, {9}), pool_)),
              ::testing::ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 1));
  EXPECT_THAT(numbers(iota_array(shape(ElementType::kC128, {3}), pool_)),
              ::testing::ElementsAre(0, 0, 1, 0, 2, 0));
}

TEST_F(Arguments, ZerosAreZero) {
  for (const ElementType type : all_types())
    for (const double value : numbers(zero_array(shape(type, {5}), pool_)))
      EXPECT_EQ(value, type == ElementType::kF8E8M0FNU ? std::ldexp(1.0, -127) : 0) << to_text(type);
}

}  // namespace
}  // namespace hlosim
