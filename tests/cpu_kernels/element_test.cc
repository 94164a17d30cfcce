// Laws of all elementwise kernels: every instruction set level gives the same bits, an array may be cut
// anywhere, and results may take the place of operands.
#include "cpu_kernels/element.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>

#include "elements.h"

namespace hlosim {
namespace {

using Bytes = std::vector<std::byte>;

struct ElementCase {
  ElementOp op;
  ElementType operand, result;
  uint64_t immediate = 0;
};

std::string text(const ElementCase& c) {
  return "op " + std::to_string(static_cast<int>(c.op)) + " " + std::string(to_text(c.operand)) + " -> " +
         std::string(to_text(c.result));
}

/// All that has a kernel.
std::vector<ElementCase> all_cases() {
  std::vector<ElementCase> cases;
  for (const ElementOp op : all_ops())
    for (const ElementType operand : all_types())
      for (const ElementType result : all_types()) {
        const uint64_t immediate = op == ElementOp::kReducePrecision ? reduce_precision_immediate(4, 2) : 0;
        if (element_kernel(op, operand, result, immediate)) cases.push_back({op, operand, result, immediate});
      }
  return cases;
}

/// The type of operand `i`.
ElementType operand_type(const ElementCase& c, int i) {
  if (c.op == ElementOp::kSelect && i == 0) return ElementType::kPred;
  if (c.op == ElementOp::kStochasticConvert && i == 1) {
    switch (byte_width(c.operand)) {
      case 1:
        return ElementType::kU8;
      case 2:
        return ElementType::kU16;
      case 4:
        return ElementType::kU32;
      default:
        return ElementType::kU64;
    }
  }
  return c.operand;
}

std::array<Bytes, 3> random_operands(const ElementCase& c, int64_t n) {
  std::mt19937_64 random(static_cast<uint64_t>(c.op) * 1000 + static_cast<uint64_t>(c.operand));
  std::array<Bytes, 3> operands;
  for (int i = 0; i < operand_count(c.op); ++i)
    operands[static_cast<size_t>(i)] = random_elements(operand_type(c, i), n, random);
  return operands;
}

Bytes run(const ElementKernel& kernel, const ElementCase& c, const std::array<Bytes, 3>& operands, int64_t n,
          int64_t piece) {
  Bytes out(static_cast<size_t>(n * byte_width(c.result)));
  for (int64_t i = 0; i < n; i += piece) {
    const void* in[3] = {};
    for (int k = 0; k < operand_count(c.op); ++k)
      in[k] = operands[static_cast<size_t>(k)].data() + i * byte_width(operand_type(c, k));
    kernel.fn(out.data() + i * byte_width(c.result), in, kernel.immediate, std::min(piece, n - i));
  }
  return out;
}

TEST(Element, ThereAreKernels) {
  // 33 types: all can be converted to each other, selected and copied.
  EXPECT_GT(all_cases().size(), 33u * 33 + 33 + 800);
}

TEST(Element, LevelsAndCutsGiveTheSameBits) {
  constexpr int64_t kN = 1061;
  for (const ElementCase& c : all_cases()) {
    const auto operands = random_operands(c, kN);
    const Bytes expected =
        run(element_kernel(IsaLevel::kV2, c.op, c.operand, c.result, c.immediate), c, operands, kN, kN);
    for (const IsaLevel level : supported_levels()) {
      const ElementKernel kernel = element_kernel(level, c.op, c.operand, c.result, c.immediate);
      for (const int64_t piece : {kN, int64_t{1}, int64_t{37}})
        ASSERT_TRUE(same_elements(c.result, run(kernel, c, operands, kN, piece), expected))
            << text(c) << " on " << name(level) << " in pieces of " << piece;
    }
  }
}

// Elements of an ordinary size go through a shorter way together, if there are no others beside them.
TEST(Element, ExponentialsAreTheSameInAnyCompany) {
  std::vector<float> in;
  for (int i = 0; i < 3000; ++i) in.push_back(-89.0f + static_cast<float>(i) * 178.0f / 2999);
  for (int i = 0; i < 200; ++i)
    in.push_back(std::nextafter(i % 2 == 0 ? 87.0f : -87.0f, i % 4 < 2 ? 0.0f : 99.0f));
  for (int i = 0; i < 300; ++i) in.push_back(i % 100 == 7 ? -INFINITY : static_cast<float>(i) * -0.25f);
  for (int i = 0; i < 300; ++i) in.push_back(i % 100 == 9 ? NAN : static_cast<float>(i) * -1e-3f);
  const auto n = static_cast<int64_t>(in.size());
  const auto kernel = [](IsaLevel level) {
    return element_kernel(level, ElementOp::kExp, ElementType::kF32, ElementType::kF32);
  };
  std::vector<float> alone(in.size()), together(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const void* one[] = {&in[i]};
    kernel(IsaLevel::kV2).fn(&alone[i], one, 0, 1);
  }
  for (const IsaLevel level : supported_levels())
    for (const int64_t first : {0, 1, 17}) {
      const void* all[] = {in.data() + first};
      kernel(level).fn(together.data(), all, 0, n - first);
      EXPECT_EQ(std::memcmp(together.data(), alone.data() + first, static_cast<size_t>(n - first) * 4), 0)
          << name(level) << " from " << first;
    }
}

TEST(Element, ResultsMayTakeThePlaceOfOperands) {
  constexpr int64_t kN = 777;
  for (const ElementCase& c : all_cases()) {
    const ElementKernel kernel = element_kernel(c.op, c.operand, c.result, c.immediate);
    const auto operands = random_operands(c, kN);
    const Bytes expected = run(kernel, c, operands, kN, kN);
    for (int k = 0; k < operand_count(c.op); ++k) {
      if (byte_width(operand_type(c, k)) < byte_width(c.result)) continue;
      auto overwritten = operands;
      const void* in[3] = {overwritten[0].data(), overwritten[1].data(), overwritten[2].data()};
      auto& place = overwritten[static_cast<size_t>(k)];
      kernel.fn(place.data(), in, kernel.immediate, kN);
      place.resize(expected.size());
      ASSERT_TRUE(same_elements(c.result, place, expected)) << text(c) << " over operand " << k;
    }
  }
}

TEST(Element, NoElementsTouchNoMemory) {
  for (const ElementCase& c : all_cases()) {
    const auto operands = random_operands(c, 1);
    const void* const in[3] = {operands[0].data(), operands[1].data(), operands[2].data()};
    const Bytes before(64, std::byte{0xA5});
    Bytes after = before;
    const ElementKernel kernel = element_kernel(c.op, c.operand, c.result, c.immediate);
    kernel.fn(after.data(), in, kernel.immediate, 0);
    ASSERT_EQ(after, before) << text(c);
    const void* const nothing[3] = {};
    kernel.fn(nullptr, nothing, kernel.immediate, 0);  // nor do they read or write nowhere
  }
}

TEST(Element, WhatHasNoMeaningHasNoKernel) {
  using enum ElementType;
  EXPECT_FALSE(element_kernel(ElementOp::kAnd, kF32, kF32));
  EXPECT_FALSE(element_kernel(ElementOp::kExp, kS32, kS32));
  EXPECT_FALSE(element_kernel(ElementOp::kMaximum, kC64, kC64));
  EXPECT_FALSE(element_kernel(ElementOp::kLess, kC64, kPred));
  EXPECT_FALSE(element_kernel(ElementOp::kTotalLess, kS32, kPred));
  EXPECT_FALSE(element_kernel(ElementOp::kErf, kC128, kC128));
  EXPECT_FALSE(element_kernel(ElementOp::kAdd, kF32, kF64));
  EXPECT_FALSE(element_kernel(ElementOp::kComplex, kBF16, kC64));
  EXPECT_FALSE(element_kernel(ElementOp::kCopy, kF32, kF64));
  EXPECT_FALSE(element_kernel(ElementOp::kStochasticConvert, kF32, kU8));
  EXPECT_FALSE(element_kernel(ElementOp::kIsFinite, kC64, kPred));
}

TEST(Element, MixedFloatsAreComputedInTheWidest) {
  using enum ElementType;
  const std::vector<uint16_t> one_bf16 = {0x3f80};
  const std::vector<float> small = {0x1p-20f};
  const ElementType sum_types[] = {kBF16, kF32};
  const ElementKernel sum = mixed_element_kernel(ElementOp::kAdd, sum_types, kF32, kF32);
  EXPECT_THAT(run_kernel<float>(sum, one_bf16, small), testing::ElementsAre(1.0f + 0x1p-20f));
  const ElementKernel less = mixed_element_kernel(ElementOp::kLess, sum_types, kF32, kPred);
  EXPECT_THAT(run_kernel<uint8_t>(less, one_bf16, small), testing::ElementsAre(0));
  const ElementType select_types[] = {kPred, kF32, kBF16};
  const ElementKernel select = mixed_element_kernel(ElementOp::kSelect, select_types, kF32, kF32);
  EXPECT_THAT(run_kernel<float>(select, std::vector<uint8_t>{0}, small, one_bf16),
              testing::ElementsAre(1.0f));
  EXPECT_FALSE(mixed_element_kernel(ElementOp::kAnd, sum_types, kF32, kF32));
}

}  // namespace
}  // namespace hlosim
