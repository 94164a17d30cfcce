#include "cpu_kernels/softmax.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "cpu_kernels/element.h"
#include "cpu_kernels/fold.h"

namespace hlosim {
namespace {

using enum ElementType;

/// One operation after another.
std::vector<float> expected(const std::vector<float>& x, int64_t n, float least, float init) {
  std::vector<float> result;
  for (auto row = x.begin(); row < x.end(); row += n) {
    float largest = least;
    for (auto at = row; at < row + n; ++at) largest = std::isnan(*at) || *at > largest ? *at : largest;
    if (std::isnan(least)) largest = least;
    std::vector<float> powers;
    for (auto at = row; at < row + n; ++at) powers.push_back(std::isnan(largest) ? NAN : *at - largest);
    const ElementKernel exponential = element_kernel(ElementOp::kExp, kF32, kF32);
    const void* const in[] = {powers.data()};
    exponential.fn(powers.data(), in, exponential.immediate, n);
    float sum = 0;
    fold_kernel(FoldOp::kAdd, kF32).rows(powers.data(), n, 1, &init, &sum);
    for (const float power : powers) result.push_back(power / sum);
  }
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) &&
        std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]))
      return false;
  return a.size() == b.size();
}

std::vector<float> numbers(std::mt19937& random, int64_t count, float scale) {
  std::vector<float> list(static_cast<size_t>(count));
  for (float& x : list) x = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f * scale;
  return list;
}

constexpr float kLeast = -INFINITY;

TEST(Softmax, HasTheBitsOfItsParts) {
  std::mt19937 random(1);
  for (const int64_t n : {64, 128, 192, 320, 1024, 4096})
    for (const float scale : {1.0f, 40.0f, 86.0f, 1000.0f})
      for (const auto& [least, init] :
           {std::pair{kLeast, 0.0f}, {3.0f, 0.5f}, {INFINITY, 0.0f}, {NAN, 0.0f}, {kLeast, NAN}}) {
        std::vector<float> x = numbers(random, 5 * n, scale);
        const std::vector<float> wanted = expected(x, n, least, init);
        std::vector<float> apart(x.size(), -1.0f);
        softmax(x.data(), n, 5, least, init, apart.data());
        EXPECT_TRUE(same_bits(apart, wanted)) << n << " " << scale << " " << least << " " << init;
        softmax(x.data(), n, 5, least, init, x.data());
        EXPECT_TRUE(same_bits(x, wanted)) << "in place " << n << " " << scale << " " << least << " " << init;
      }
}

TEST(Softmax, TakesEveryNumber) {
  constexpr float kSpecial[] = {0.0f,     -0.0f,     1e-40f, 3e38f,  -3e38f,
                                INFINITY, -INFINITY, NAN,    -87.5f, -104.5f};
  std::mt19937 random(2);
  constexpr int64_t kRow = 128, kRows = 40;
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x = numbers(random, kRow * kRows, 5);
    for (int64_t row = 0; row < kRows; ++row)
      for (uint32_t i = random() % 4; i > 0; --i)
        x[static_cast<size_t>(row * kRow + random() % kRow)] = kSpecial[random() % std::size(kSpecial)];
    std::fill_n(x.begin(), kRow, -INFINITY);
    std::fill_n(x.begin() + kRow, kRow / 2, -INFINITY);
    std::vector<float> result(x.size());
    softmax(x.data(), kRow, kRows, kLeast, 0, result.data());
    ASSERT_TRUE(same_bits(result, expected(x, kRow, kLeast, 0))) << round;
  }
}

TEST(Softmax, IsTheSameOnEveryLevelAndStopsAtNan) {
  std::mt19937 random(3);
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4}) {
    if (level > supported_isa_level()) continue;
    const SoftmaxKernels& kernels = HLOSIM_PICK_KERNELS(level, kSoftmax);
    for (const int64_t n : {64, 128, 448}) {
      const std::vector<float> x = numbers(random, 7 * n, n == 128 ? 300 : 3);
      for (const int64_t nan : {int64_t{-1}, int64_t{0}, 3 * n + 5, 7 * n - 1}) {
        std::vector<float> with_nan = x, result(x.size());
        if (nan >= 0) with_nan[static_cast<size_t>(nan)] = NAN;
        const int64_t rows = nan < 0 ? 7 : nan / n;
        EXPECT_EQ(kernels.of_numbers(with_nan.data(), n, 7, kLeast, 0, result.data()), rows);
        std::vector<float> wanted = expected(x, n, kLeast, 0);
        result.resize(static_cast<size_t>(rows * n));
        wanted.resize(result.size());
        EXPECT_TRUE(same_bits(result, wanted)) << name(level) << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace hlosim
