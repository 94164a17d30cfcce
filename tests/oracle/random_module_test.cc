#include "oracle/random_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "oracle/evaluator.h"
#include "support/modules.h"

namespace hlosim::test {
namespace {

constexpr uint64_t kSeeds = 500;

void count_unknown(const Value& value, size_t& unknown, size_t& all) {
  for (const Element& element : value.data) unknown += element.unknown();
  all += value.data.size();
  for (const ValuePtr& element : value.elements) count_unknown(*element, unknown, all);
}

TEST(RandomModule, ReadsAndVerifies) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (const bool decorated : {true, false}) {
      const std::string text = random_module(seed, decorated);
      const std::string problems = findings(text);
      if (problems.find("error") != std::string::npos)
        ADD_FAILURE() << "seed " << seed << "\n" << problems << text;
    }
}

TEST(RandomModule, IsTheSameForASeed) {
  EXPECT_EQ(random_module(7), random_module(7));
  EXPECT_NE(random_module(7), random_module(8));
}

TEST(RandomModule, CoversTheOpcodesAndMostValuesAreDecided) {
  size_t unknown = 0, all = 0, without_result = 0;
  std::set<std::string_view> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = module_or_fail(random_module(seed));
    Evaluator evaluator(module);
    const ValuePtr result = evaluator.run(random_inputs(module, seed));
    for (const Instruction& instruction : module.instructions) seen.insert(to_text(instruction.opcode));
    if (result)
      count_unknown(*result, unknown, all);
    else
      ++without_result;
  }
  EXPECT_LE(without_result, kSeeds / 100);
  EXPECT_LE(unknown, all / 20);
  for (const char* opcode : {"batch-norm-grad",
                             "batch-norm-training",
                             "bitcast",
                             "bitcast-convert",
                             "cholesky",
                             "conditional",
                             "convolution",
                             "dot",
                             "dynamic-update-slice",
                             "fft",
                             "fusion",
                             "gather",
                             "map",
                             "power",
                             "ragged-dot",
                             "reduce-window",
                             "rng-bit-generator",
                             "scan",
                             "scatter",
                             "select-and-scatter",
                             "sort",
                             "topk",
                             "triangular-solve",
                             "while"})
    EXPECT_THAT(seen, testing::Contains(std::string_view(opcode)));
}

}  // namespace
}  // namespace hlosim::test
