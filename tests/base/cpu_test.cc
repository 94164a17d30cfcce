#include "base/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sums.h"

namespace hlosim {
namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4};

TEST(Cpu, ChoosesTheBestLevelUnlessAskedForAnother) {
  for (const IsaLevel supported : kLevels) {
    EXPECT_EQ(choose_isa_level("", supported).value(), supported);
    for (const IsaLevel requested : kLevels) {
      const Result<IsaLevel> chosen = choose_isa_level(name(requested), supported);
      EXPECT_EQ(chosen.has_value(), requested <= supported) << name(requested) << " on " << name(supported);
      EXPECT_EQ(chosen.value_or(requested), requested);
    }
  }
}

TEST(Cpu, RefusesWhatIsNoLevel) {
  const Result<IsaLevel> level = choose_isa_level("avx2", IsaLevel::kV4);
  ASSERT_FALSE(level.has_value());
  EXPECT_EQ(level.error().message, "HLOSIM_ISA=\"avx2\" is not an instruction set level");
  EXPECT_EQ(level.error().hint, "one of v2, v3, v4");
}

TEST(Cpu, RefusesALevelTheProcessorLacks) {
  const Result<IsaLevel> level = choose_isa_level("v4", IsaLevel::kV3);
  ASSERT_FALSE(level.has_value());
  EXPECT_EQ(level.error().message, "HLOSIM_ISA=v4 asks for more than this processor's x86-64-v3");
}

TEST(Cpu, EachLevelIsCompiledForItsRegisters) {
  EXPECT_EQ(HLOSIM_PICK_KERNELS(IsaLevel::kV2, kSums).vector_bytes, 16);
  EXPECT_EQ(HLOSIM_PICK_KERNELS(IsaLevel::kV3, kSums).vector_bytes, 32);
  EXPECT_EQ(HLOSIM_PICK_KERNELS(IsaLevel::kV4, kSums).vector_bytes, 64);
}

TEST(Cpu, EveryLevelOfThisMachineGivesTheSameBits) {
  // Values whose fused multiply-add differs from a rounded product and a rounded sum.
  std::vector<float> a, b, c;
  std::vector<int32_t> integers;
  for (int i = 0; i < 1003; ++i) {
    a.push_back(1.0f + static_cast<float>(i) * 1.1920929e-7f);
    b.push_back(1.0f + static_cast<float>(i % 97) * 1.1920929e-7f);
    c.push_back(-a.back() * b.back());
    integers.push_back(i * 2000000 - 1000000);
  }
  const auto n = static_cast<int64_t>(a.size());
  std::vector<float> expected(a.size());
  isa_v2::kSums.multiply_add(a.data(), b.data(), c.data(), expected.data(), n);
  EXPECT_THAT(expected, testing::Each(0.0f));  // a fused one would leave the product's rounding error
  for (const IsaLevel level : kLevels) {
    if (level > supported_isa_level()) continue;
    const SumKernels& kernels = HLOSIM_PICK_KERNELS(level, kSums);
    std::vector<float> out(a.size(), 1.0f);
    kernels.multiply_add(a.data(), b.data(), c.data(), out.data(), n);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0) << name(level);
    EXPECT_EQ(kernels.sum(integers.data(), n), isa_v2::kSums.sum(integers.data(), n)) << name(level);
  }
}

}  // namespace
}  // namespace hlosim
