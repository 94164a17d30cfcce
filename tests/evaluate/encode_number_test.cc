// Numbers written into constants are the ones that the conversion kernels make.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cpu_kernels/element.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

std::vector<double> numbers() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> list = {0.0, -0.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  for (int e = -160; e <= 130; ++e)  // powers of two, their neighbours, and the middle between two
    for (const double factor : {1.0, 1.25, 1.5, 1.75, 1.0 - 0x1p-30, 1.0 + 0x1p-30})
      for (const double sign : {1.0, -1.0}) list.push_back(sign * factor * std::ldexp(1.0, e));
  for (int i = -300; i <= 300; ++i) list.push_back(i), list.push_back(i + 0.5);
  for (int bits = 1; bits <= 11;
       ++bits)  // just beside the middle between two values with so many mantissa bits
    for (const double beside : {0.0, 0x1p-30, -0x1p-30})
      for (const double sign : {1.0, -1.0}) list.push_back(sign * (1 + std::ldexp(1.0, -bits - 1) + beside));
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 40);
  for (int i = 0; i < 2000; ++i) list.push_back(normal(random));
  return list;
}

TEST(EncodeNumber, AgreesWithTheConversionKernel) {
  int types = 0;
  for (int t = static_cast<int>(ElementType::kPred); t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kF64, type);
    if (!convert || is_complex(type)) continue;
    ++types;
    for (const double number : numbers()) {
      const void* in[] = {&number};
      uint64_t expected = 0;
      convert.fn(&expected, in, convert.immediate, 1);
      const uint64_t bits = encode_number(type, number);
      const auto width = static_cast<size_t>(byte_width(type));
      EXPECT_EQ(std::memcmp(&bits, &expected, width), 0)
          << to_text(type) << " of " << number << ": " << bits << ", not " << expected;
    }
  }
  EXPECT_GT(types, 20);
}

}  // namespace
}  // namespace hlosim
