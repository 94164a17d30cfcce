#include "algorithms/sort_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace hlosim {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<uint32_t> order_of(KeyOrder order, const std::vector<T>& values) {
  std::vector<uint32_t> permutation(values.size());
  sorted_order(order, reinterpret_cast<const std::byte*>(values.data()), static_cast<int64_t>(values.size()),
               permutation.data());
  return permutation;
}

template <class T, class Less>
std::vector<uint32_t> slowly(const std::vector<T>& values, Less&& less) {
  std::vector<uint32_t> permutation(values.size());
  std::iota(permutation.begin(), permutation.end(), 0u);
  std::stable_sort(permutation.begin(), permutation.end(),
                   [&](uint32_t a, uint32_t b) { return less(values[a], values[b]); });
  return permutation;
}

template <class T>
void check(ElementType type, std::mt19937_64& random) {
  for (const size_t n : {0, 1, 2, 100, 1023, 1024, 5000}) {
    std::vector<T> values(n);
    // Many equal ones, the extremes among them.
    for (T& x : values) {
      const uint64_t bits = random();
      x = bits % 3 == 0 ? static_cast<T>(bits >> 8) : static_cast<T>(static_cast<int64_t>(bits >> 8 & 7) - 3);
    }
    EXPECT_EQ(order_of({type, false, false}, values), slowly(values, std::less<T>()));
    EXPECT_EQ(order_of({type, true, true}, values), slowly(values, std::greater<T>()));
    for (const size_t k : {size_t{0}, std::min<size_t>(n, 7), n}) {
      std::vector<uint32_t> first(k), all = order_of({type, true, true}, values);
      first_in_order({type, true, true}, reinterpret_cast<const std::byte*>(values.data()),
                     static_cast<int64_t>(n), static_cast<int64_t>(k), first.data());
      all.resize(k);
      EXPECT_EQ(first, all);
    }
  }
}

TEST(SortedOrder, IsStableAndAgreesWithComparisons) {
  std::mt19937_64 random(7);
  check<int8_t>(ElementType::kS8, random);
  check<uint8_t>(ElementType::kU8, random);
  check<int16_t>(ElementType::kS16, random);
  check<uint16_t>(ElementType::kU16, random);
  check<int32_t>(ElementType::kS32, random);
  check<uint32_t>(ElementType::kU32, random);
  check<int64_t>(ElementType::kS64, random);
  check<uint64_t>(ElementType::kU64, random);
  check<float>(ElementType::kF32, random);
  check<double>(ElementType::kF64, random);
}

TEST(SortedOrder, ZerosAndNansOfFloats) {
  const float nan = std::nanf(""), inf = HUGE_VALF;
  const std::vector<float> values = {nan, 0.0f, -0.0f, inf, -nan, -inf, 0.0f};
  EXPECT_THAT(order_of({ElementType::kF32, true, false}, values), ElementsAre(4, 5, 2, 1, 6, 3, 0));
  EXPECT_THAT(order_of({ElementType::kF32, false, false}, values), ElementsAre(4, 5, 1, 2, 6, 3, 0));
  EXPECT_THAT(order_of({ElementType::kF32, true, true}, values), ElementsAre(0, 3, 1, 6, 2, 5, 4));
}

TEST(SortedOrder, NarrowFloats) {
  // f4e2m1fn: 0.5, -6, 6, -0.
  EXPECT_THAT(order_of({ElementType::kF4E2M1FN, true, false}, std::vector<uint8_t>{1, 15, 7, 8}),
              ElementsAre(1, 3, 0, 2));
  // f8e8m0fnu has no sign: 2^-127, 2^1, 2^127.
  EXPECT_THAT(order_of({ElementType::kF8E8M0FNU, true, false}, std::vector<uint8_t>{128, 254, 0}),
              ElementsAre(2, 0, 1));
  // f8e4m3fnuz has no -0, its bits are NaN: the largest, NaN, 0, the smallest magnitude below 0, -max.
  for (const bool total : {false, true})
    EXPECT_THAT(
        order_of({ElementType::kF8E4M3FNUZ, total, false}, std::vector<uint8_t>{127, 128, 0, 129, 255}),
        ElementsAre(4, 3, 2, 0, 1));
  // bf16: 1, -2, 3.
  EXPECT_THAT(order_of({ElementType::kBF16, true, false}, std::vector<uint16_t>{0x3f80, 0xc000, 0x4040}),
              ElementsAre(1, 0, 2));
}

}  // namespace
}  // namespace hlosim
