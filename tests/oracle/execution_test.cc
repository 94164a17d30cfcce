// Random modules, and those of tests: the executor against the slow evaluator.
//
// HLOSIM_RANDOM_SEEDS=from:to runs other seeds than the usual ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "modules/trip_count.h"
#include "ops/dataflow.h"
#include "oracle/evaluator.h"
#include "oracle/execute.h"
#include "oracle/random_module.h"
#include "support/module_files.h"
#include "support/modules.h"
#include "threads/parallel.h"

namespace hlosim::test {
namespace {

struct Difference {
  size_t leaf = 0;
  std::string text;
};

/// The first leaf that `actual` answers wrongly.
std::optional<Difference> difference(const ValuePtr& expected, const Outputs& actual) {
  std::vector<ValuePtr> leaves;
  append_leaves(expected, leaves);
  if (leaves.size() != actual.leaves.size())
    return Difference{0, fmt::format("{} outputs, expected {}", actual.leaves.size(), leaves.size())};
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Value &want = *leaves[k], &got = *actual.leaves[k];
    size_t wrong = 0;
    std::string first;
    for (size_t i = 0; i < want.data.size(); ++i)
      if (!agrees(want.type(), want.data[i], got.data[i]) && wrong++ == 0)
        first = fmt::format("output {} {}, element {}: {}, expected {}", k, to_text(want.shape), i,
                            text_of(want.type(), got.data[i]), text_of(want.type(), want.data[i]));
    if (wrong > 0) return Difference{k, fmt::format("{} ({} of {} differ)", first, wrong, want.data.size())};
  }
  return std::nullopt;
}

std::string inputs_text(std::span<const ValuePtr> inputs) {
  std::string text;
  std::vector<ValuePtr> leaves;
  for (const ValuePtr& input : inputs) append_leaves(input, leaves);
  for (size_t k = 0; k < leaves.size(); ++k) {
    text += fmt::format("input {} {}:", k, to_text(leaves[k]->shape));
    for (size_t i = 0; i < leaves[k]->data.size() && i < 64; ++i)
      text += " " + text_of(leaves[k]->type(), leaves[k]->data[i]);
    text += "\n";
  }
  return text;
}

class RandomExecution : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (const char* seeds = std::getenv("HLOSIM_RANDOM_SEEDS")) {
      char* end = nullptr;
      from_ = std::strtoull(seeds, &end, 10);
      to_ = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : from_ + 1;
    }
  }
  static void TearDownTestSuite() {
    set_thread_count(0);
    from_ = 0;
    to_ = 2000;
  }
  static inline uint64_t from_ = 0, to_ = 2000;

  /// The smallest text that shows the difference: what one leaf of the result needs.
  void report(uint64_t seed, const Difference& found, std::string_view how) {
    std::string text = random_module(seed, true, found.leaf);
    Module small = module_or_fail(text);
    const std::vector<ValuePtr> inputs = random_inputs(small, seed);
    Evaluator evaluator(small);
    evaluator.rounds_each_step = how == "traced";
    const ValuePtr expected = evaluator.run(inputs);
    const auto again =
        expected ? difference(expected, execute(small, inputs, how == "traced")) : std::nullopt;
    if (!again) text = random_module(seed);
    ADD_FAILURE() << "seed " << seed << " (" << how << "): " << found.text << "\n"
                  << (again ? again->text : "the whole module is needed") << "\n"
                  << text << inputs_text(inputs);
  }
};

TEST_F(RandomExecution, AgreesWithTheEvaluator) {
  size_t undecided = 0;
  for (uint64_t seed = from_; seed < to_; ++seed) {
    if (to_ - from_ > 5000 && (seed - from_) % 1000 == 0) std::fprintf(stderr, "seed %zu\n", size_t{seed});
    Module module = module_or_fail(random_module(seed));
    const std::vector<ValuePtr> inputs = random_inputs(module, seed);
    Evaluator evaluator(module);
    const ValuePtr expected = evaluator.run(inputs);
    if (!expected) {
      ++undecided;
      continue;
    }
    set_thread_count(1);
    const Outputs one = execute(module, inputs);
    if (!one.error.empty()) {
      ADD_FAILURE() << "seed " << seed << ": " << one.error;
      continue;
    }
    if (const auto found = difference(expected, one)) report(seed, *found, "one thread");
    if (seed % 4 == 0) {
      const Outputs again = execute_again(module, inputs);
      EXPECT_EQ(again.error, "") << "seed " << seed;
      EXPECT_TRUE(same_bits(one, again)) << "seed " << seed << " with inputs that are kept";
    }
    if (seed % 4 == 1) {
      evaluator.rounds_each_step = true;
      if (const auto found = difference(evaluator.run(inputs), execute(module, inputs, true)))
        report(seed, *found, "traced");
    }
    if (seed % 4 == 2) {
      set_thread_count(3);
      EXPECT_TRUE(same_bits(one, execute(module, inputs))) << "seed " << seed << " with three threads";
    }
    if (seed % 4 == 3) {
      Module plain = module_or_fail(random_module(seed, false));
      EXPECT_TRUE(same_bits(one, execute(plain, inputs))) << "seed " << seed << " without layouts";
    }
  }
  EXPECT_LE(undecided, (to_ - from_) / 50 + 2);
}

/// A slow evaluator is done with it in no time: its arrays are small, and its loops end soon.
bool is_small(const Module& module) {
  return std::all_of(module.instructions.begin(), module.instructions.end(),
                     [&](const Instruction& instruction) {
                       if (instruction.shape->is_array() && instruction.shape->element_count() > 4096)
                         return false;
                       if (dataflow(instruction.opcode).value != ValueRule::kLoop) return true;
                       const TripCount trips = trip_count(module, instruction);
                       return trips.source == TripCount::Source::kDerived && trips.count <= 100;
                     });
}

/// File tests that the slow evaluator answers otherwise than they say of themselves. Why is not worked out;
/// each holds something that may be beyond it: copies to another float type, operands of several float types,
/// windows that overlap, stochastic conversion of f64.
constexpr std::string_view kBeyondTheEvaluator[] = {"copy.hlo", "mixed_floats.hlo", "select_and_scatter.hlo",
                                                    "stochastic_convert.hlo"};

TEST(OwnModules, AgreeWithTheEvaluator) {
  size_t compared = 0;
  for (const std::filesystem::path& file : right_modules({.file_tests = 1, .others = 0})) {
    if (std::ranges::count(kBeyondTheEvaluator, file.filename().string()) > 0) continue;
    DiagnosticList problems;
    std::vector<Module> modules = read_modules(*read_source(file), op_table(), problems);
    for (Module& module : modules) {
      ASSERT_TRUE(verify(module, op_table(), problems)) << file;
      if (!is_small(module)) continue;
      const std::vector<ValuePtr> inputs = random_inputs(module, compared);
      const ValuePtr expected = Evaluator(module).run(inputs);
      if (!expected) continue;  // what it doesn't know, and what has several answers
      const Outputs outputs = execute(module, inputs);
      if (!outputs.error.empty()) continue;  // refused, as its file test says
      ++compared;
      const std::optional<Difference> found = difference(expected, outputs);
      EXPECT_FALSE(found) << file << ": " << found->text;
    }
  }
  EXPECT_GT(compared, 60u);
}

}  // namespace
}  // namespace hlosim::test
