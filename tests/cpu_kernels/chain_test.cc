#include "cpu_kernels/chain.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace hlosim {
namespace {

float applied(ChainOp op, float v, float a) {
  switch (op) {
    case ChainOp::kAdd:
      return v + a;
    case ChainOp::kSubtract:
      return v - a;
    case ChainOp::kSubtractFrom:
      return a - v;
    case ChainOp::kMultiply:
      return v * a;
    case ChainOp::kDivide:
      return v / a;
    case ChainOp::kDivideInto:
      return a / v;
    case ChainOp::kMaximum:
      return std::isnan(a) || a > v ? a : v;
    case ChainOp::kMaximumOf:
      return std::isnan(v) || v > a ? v : a;
    case ChainOp::kMinimum:
      return std::isnan(a) || a < v ? a : v;
    case ChainOp::kMinimumOf:
      return std::isnan(v) || v < a ? v : a;
  }
  return 0;
}

float special(std::mt19937& random) {
  constexpr float kSpecial[] = {0.0f, -0.0f, 1.0f, -1.5f, 3e38f, 1e-40f, INFINITY, -INFINITY, NAN};
  return random() % 3 == 0 ? kSpecial[random() % 9]
                           : static_cast<float>(static_cast<int32_t>(random())) * 0x1p-28f;
}

TEST(Chain, RoundsEveryLinkByItself) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const size_t n = random() % 300, count = 1 + random() % 6;
    const size_t row = random() % 2 == 0 ? n + 1 : 1 + random() % 80;
    std::vector<std::vector<float>> operands(count + 1);
    std::vector<ChainLink> links;
    for (auto& operand : operands)
      for (size_t i = 0; i <= n; ++i) operand.push_back(special(random));
    for (size_t k = 0; k < count; ++k)
      links.push_back(
          {operands[k + 1].data(), static_cast<ChainOp>(random() % kChainOpCount), random() % 2 == 0});
    std::vector<float> expected;
    for (size_t i = 0; i < n; ++i) {
      float v = operands[0][i];
      for (const ChainLink& link : links) v = applied(link.op, v, link.operand[link.is_scalar ? i / row : i]);
      expected.push_back(v);
    }
    // Also in the place of the first operand.
    const bool in_place = random() % 2;
    std::vector<float> other(n);
    float* out = in_place ? operands[0].data() : other.data();
    chain_kernel()(out, operands[0].data(), links.data(), static_cast<int64_t>(count),
                   static_cast<int64_t>(n), static_cast<int64_t>(row));
    for (size_t i = 0; i < n; ++i) {
      if (std::isnan(expected[i]) && std::isnan(out[i])) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected[i])) << round << ": " << i;
    }
  }
}

TEST(Chain, TakesArithmeticOfF32Only) {
  const auto kernel = [](ElementOp op, ElementType type) { return element_kernel(op, type, type); };
  EXPECT_EQ(chain_op(kernel(ElementOp::kSubtract, ElementType::kF32), false), ChainOp::kSubtract);
  EXPECT_EQ(chain_op(kernel(ElementOp::kSubtract, ElementType::kF32), true), ChainOp::kSubtractFrom);
  EXPECT_EQ(chain_op(kernel(ElementOp::kDivide, ElementType::kF32), true), ChainOp::kDivideInto);
  EXPECT_EQ(chain_op(kernel(ElementOp::kMinimum, ElementType::kF32), true), ChainOp::kMinimumOf);
  EXPECT_FALSE(chain_op(kernel(ElementOp::kPower, ElementType::kF32), false));
  EXPECT_FALSE(chain_op(kernel(ElementOp::kAdd, ElementType::kF64), false));
  EXPECT_FALSE(chain_op(kernel(ElementOp::kAdd, ElementType::kS32), false));
}

}  // namespace
}  // namespace hlosim
