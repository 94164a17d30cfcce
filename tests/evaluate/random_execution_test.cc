// Random bits and numbers, and what a device knows of itself.
#include <gmock/gmock.h>

#include <cmath>

#include "algorithms/random_bits.h"
#include "support/execution.h"

namespace hlosim::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> bits(std::string_view algorithm, std::string_view state, std::string_view shape) {
  const std::string words = fmt::format("u64[{}]", 1 + std::count(state.begin(), state.end(), ','));
  return executed(fmt::format(R"(HloModule m
ENTRY e {{
  s = {0} constant({1})
  ROOT r = ({0}, {2}) rng-bit-generator(s), algorithm={3}
}})",
                              words, state, shape, algorithm));
}

TEST(RngBitGenerator, ThreeFry) {
  EXPECT_THAT(bits("rng_three_fry", "{42, 0}", "u32[5]"),
              ElementsAre("{42, 3}", "{3732534457, 1332528664, 646961260, 4263843367, 2234760234}"));
  // Two words of counter 0 with key 0: 6b200159 99ba4efe.
  EXPECT_THAT(bits("rng_three_fry", "{0, 0}", "u32[]"), ElementsAre("{0, 1}", "1797259609"));
  EXPECT_THAT(bits("rng_three_fry", "{0, 0}", "u64[1]"), ElementsAre("{0, 1}", "{11077253088097075545}"));
  EXPECT_THAT(bits("rng_three_fry", "{42, 0}", "u8[5]"), ElementsAre("{42, 3}", "{185, 24, 108, 39, 42}"));
  EXPECT_THAT(bits("rng_three_fry", "{42, 0}", "s8[5]"), ElementsAre("{42, 3}", "{-71, 24, 108, 39, 42}"));
  EXPECT_THAT(bits("rng_three_fry", "{42, 0}", "u16[5]"),
              ElementsAre("{42, 3}", "{62649, 50712, 55404, 5671, 48170}"));
  EXPECT_THAT(bits("rng_three_fry", "{42, 0}", "u32[0]"), ElementsAre("{42, 0}", "{}"));
}

// The words of one counter are neighbours along the first even dimension, else along the first of the
// largest.
TEST(RngBitGenerator, ThreeFryPairsElementsAlongOneDimension) {
  const auto word = [](uint64_t counter, int which) {
    return static_cast<uint32_t>(threefry2x32(9, 100 + counter) >> (32 * which));
  };
  EXPECT_THAT(
      bits("rng_three_fry", "{9, 100}", "u32[2,3]"),
      ElementsAre("{9, 103}", fmt::format("{{ {{{}, {}, {}}}, {{{}, {}, {}}} }}", word(0, 0), word(1, 0),
                                          word(2, 0), word(0, 1), word(1, 1), word(2, 1))));
  EXPECT_THAT(
      bits("rng_three_fry", "{9, 100}", "u32[3,2]"),
      ElementsAre("{9, 103}", fmt::format("{{ {{{}, {}}}, {{{}, {}}}, {{{}, {}}} }}", word(0, 0), word(0, 1),
                                          word(1, 0), word(1, 1), word(2, 0), word(2, 1))));
  EXPECT_THAT(bits("rng_three_fry", "{9, 100}", "u32[3,1]"),
              ElementsAre("{9, 102}",
                          fmt::format("{{ {{{}}}, {{{}}}, {{{}}} }}", word(0, 0), word(0, 1), word(1, 0))));
}

TEST(RngBitGenerator, PhiloxIsTheDefault) {
  for (const char* algorithm : {"rng_philox", "rng_default"}) {
    EXPECT_THAT(
        bits(algorithm, "{42, 7, 0}", "u32[6]"),
        ElementsAre("{42, 9, 0}", "{1539146673, 1752714373, 387999658, 778794423, 2353681052, 577080267}"));
    EXPECT_THAT(
        bits(algorithm, "{42, 7}", "u32[6]"),
        ElementsAre("{42, 9}", "{1436477672, 1015822685, 1056814300, 3113490754, 1193696974, 489625878}"));
  }
  EXPECT_THAT(bits("rng_philox", "{42, 7, 0}", "u64[3]"),
              ElementsAre("{42, 9, 0}",
                          fmt::format("{{{}, {}, {}}}", 1539146673 | 1752714373ull << 32,
                                      387999658 | 778794423ull << 32, 2353681052 | 577080267ull << 32)));
  EXPECT_THAT(bits("rng_philox", "{42, 7, 0}", "u8[2,3]"),
              ElementsAre("{42, 9, 0}", fmt::format("{{ {{{}, {}, {}}}, {{{}, {}, {}}} }}", 1539146673 % 256,
                                                    1752714373 % 256, 387999658 % 256, 778794423 % 256,
                                                    2353681052 % 256, 577080267 % 256)));
  EXPECT_THAT(bits("rng_philox", "{1, 18446744073709551615, 5}", "u32[4]")[0], "{1, 0, 6}");
}

TEST(RngBitGenerator, WordsBehindTheCounterStay) {
  EXPECT_THAT(bits("rng_three_fry", "{42, 0, 11, 12}", "u32[5]"),
              ElementsAre("{42, 3, 11, 12}", "{3732534457, 1332528664, 646961260, 4263843367, 2234760234}"));
}

TEST(RngBitGenerator, OtherStatesAndTypesAreRefusedByName) {
  EXPECT_THAT(bits("rng_three_fry", "{42}", "u32[6]"),
              ElementsAre(HasSubstr(
                  "rng-bit-generator: cannot be run on (u64[1]) with the result (u64[1], u32[6])")));
  EXPECT_THAT(bits("rng_philox", "{42, 7}", "pred[6]"), ElementsAre(HasSubstr("cannot be run on (u64[2])")));
}

TEST(RngState, MovesOnByDelta) {
  Execution execution(R"(HloModule m
ENTRY e {
  a = u64[2] rng-get-and-update-state(), delta=3
  b = u64[2] rng-get-and-update-state(), delta=1
  ROOT r = (u64[2], u64[2]) tuple(a, b)
})");
  execution.device.rng_state = {18446744073709551614u, 4};
  EXPECT_THAT(execution.texts(), ElementsAre("{18446744073709551614, 4}", "{1, 5}"));
  EXPECT_THAT(execution.device.rng_state, ElementsAre(2, 5));
}

TEST(DeviceNumbers, AreThoseOfTheDevice) {
  Execution execution(R"(HloModule m
ENTRY e {
  a = u32[] replica-id()
  b = u32[] partition-id()
  ROOT r = (u32[], u32[]) tuple(a, b)
})");
  EXPECT_THAT(execution.texts(), ElementsAre("0", "0"));
  execution.device.replica_id = 3;
  execution.device.partition_id = 5;
  EXPECT_THAT(execution.texts(), ElementsAre("3", "5"));
}

/// Elements of one rng of `type`, and of a second one after it.
template <class T>
std::vector<T> numbers(std::string_view type, std::string_view a, std::string_view b,
                       std::string_view distribution, int64_t count) {
  Execution execution(fmt::format(R"(HloModule m
ENTRY e {{
  a = {0}[] constant({1})
  b = {0}[] constant({2})
  x = {0}[{4}] rng(a, b), distribution=rng_{3}
  y = {0}[{4}] rng(a, b), distribution=rng_{3}
  ROOT r = ({0}[{4}], {0}[{4}]) tuple(x, y)
}})",
                                  type, a, b, distribution, count));
  std::vector<T> all;
  for (const Array& array : execution.arrays()) all.insert(all.end(), array.as<T>(), array.as<T>() + count);
  EXPECT_EQ(execution.problems(), "");
  return all;
}

template <class T>
double mean(const std::vector<T>& values) {
  double sum = 0;
  for (const T x : values) sum += static_cast<double>(x);
  return sum / static_cast<double>(values.size());
}
template <class T>
double deviation(const std::vector<T>& values) {
  double sum = 0;
  for (const T x : values) sum += std::pow(static_cast<double>(x) - mean(values), 2);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(Rng, UniformIsWithinItsBounds) {
  const auto f32 = numbers<float>("f32", "-2", "4", "uniform", 4000);
  EXPECT_THAT(f32, Each(testing::AllOf(testing::Ge(-2), testing::Le(4))));
  EXPECT_NEAR(mean(f32), 1, 0.1);
  EXPECT_NEAR(deviation(f32), 6 / std::sqrt(12), 0.1);
  EXPECT_NE(f32[0], f32[4000]);
  const auto f64 = numbers<double>("f64", "0", "1", "uniform", 4001);
  EXPECT_NEAR(mean(f64), 0.5, 0.02);
  const auto s32 = numbers<int32_t>("s32", "-3", "5", "uniform", 4000);
  EXPECT_THAT(s32, Each(testing::AllOf(testing::Ge(-3), testing::Lt(5))));
  EXPECT_NEAR(mean(s32), 0.5, 0.2);
  EXPECT_THAT(numbers<int8_t>("s8", "5", "5", "uniform", 10), Each(5));
  EXPECT_THAT(numbers<uint64_t>("u64", "1", "18446744073709551615", "uniform", 100), Each(testing::Ge(1u)));
  EXPECT_NEAR(mean(numbers<uint8_t>("pred", "false", "true", "uniform", 4000)), 0.5, 0.05);
}

TEST(Rng, NormalHasItsMeanAndDeviation) {
  const auto f32 = numbers<float>("f32", "3", "2", "normal", 4000);
  EXPECT_NEAR(mean(f32), 3, 0.15);
  EXPECT_NEAR(deviation(f32), 2, 0.1);
  const auto f64 = numbers<double>("f64", "-1", "0.5", "normal", 4001);
  EXPECT_NEAR(mean(f64), -1, 0.05);
  EXPECT_NEAR(deviation(f64), 0.5, 0.05);
}

// Between 1 and 1 there is 1 only.
TEST(Rng, EveryType) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (is_complex(type) || is_pred(type) || !(is_integer(type) || is_float(type))) continue;
    const int one = type == ElementType::kS1 ? -1 : 1;
    EXPECT_THAT(executed(fmt::format(R"(HloModule m
ENTRY e {{
  one = {0}[] constant({1})
  ROOT r = {0}[3] rng(one, one), distribution=rng_uniform
}})",
                                     to_text(type), one)),
                ElementsAre(fmt::format("{{{0}, {0}, {0}}}", one)))
        << to_text(type);
  }
}

TEST(RngBitGenerator, TypesOfWholeBytesHaveBitsOthersAreRefusedByName) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    const auto results = bits("rng_philox", "{42, 7}", fmt::format("{}[2]", to_text(type)));
    const bool runs = !is_complex(type) && !is_pred(type) && bit_width(type) >= 8;
    ASSERT_EQ(results.size(), runs ? 2u : 1u) << to_text(type) << results[0];
    if (!runs) {
      EXPECT_THAT(results[0], HasSubstr(fmt::format("(u64[2], {}[2])", to_text(type))));
    }
  }
}

// Arrays that several threads share: dimensions before and behind the split one, odd and even.
TEST(RngBitGenerator, ThreeFryOfLargeArrays) {
  for (const auto& [outer, split, inner] :
       {std::array<int64_t, 3>{3, 40001, 1}, {1, 2, 50001}, {101, 203, 5}, {7, 9, 1001}}) {
    Execution execution(fmt::format(R"(HloModule m
ENTRY e {{
  s = u64[2] constant({{3, 4}})
  ROOT r = (u64[2], u16[{},{},{}]) rng-bit-generator(s), algorithm=rng_three_fry
}})",
                                    outer, split, inner));
    const auto results = execution.arrays();
    ASSERT_EQ(results.size(), 2u);
    // All odd: the largest is split; else the even one is.
    const bool along_inner = split % 2 != 0 && inner > split;
    const int64_t rows = along_inner ? outer * split : outer, n = along_inner ? inner : split,
                  rest = along_inner ? 1 : inner, half = (n + 1) / 2;
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < n; ++k)
        for (int64_t c = 0; c < rest; ++c) {
          const uint64_t pair = threefry2x32(3, 4 + static_cast<uint64_t>((r * half + k / 2) * rest + c));
          wrong += results[1].as<uint16_t>()[(r * n + k) * rest + c] !=
                   static_cast<uint16_t>(pair >> (k % 2 * 32));
        }
    EXPECT_EQ(wrong, 0) << outer << " " << split << " " << inner;
    EXPECT_EQ(results[0].as<uint64_t>()[1], 4 + static_cast<uint64_t>(rows * half * rest));
  }
}

}  // namespace
}  // namespace hlosim::test
