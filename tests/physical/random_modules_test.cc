// Random modules give the same bits on real bytes as they do as programs, whatever the layouts and the order.
#include <gtest/gtest.h>

#include "oracle/random_module.h"
#include "support/physical.h"
#include "support/random_dataflow.h"

namespace hlosim {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;

/// Bitcasts whose elements lie elsewhere than the bytes say: the text asks for what no memory does.
bool is_bitcast(const std::string& problem) {
  return problem.find(to_text(FaultKind::kNotANoOp)) != std::string::npos;
}

/// What is wrong; empty when nothing is. Modules that don't run count as right.
std::string problem_of(const std::string& text, const PreparationOptions& options, uint64_t seed, int& ran) {
  const test::BothWays ways = test::run_both_ways(
      test::module_or_fail(text), test::module_or_fail(text), options,
      [&](const Module& module, MemoryPool& pool) { return test::random_arguments(module, seed, pool); },
      test::twins, kMostBytes);
  ran += ways.ran;
  return ways.problem;
}

PreparationOptions variant(uint64_t seed, int which) {
  PreparationOptions options;
  if (which == 1 || which == 3) options.random_layouts = seed;
  if (which == 2 || which == 3) options.random_order = seed;
  if (which == 4) options.native_tiling = TilingPolicy::newer();
  if (which == 5) options.schedule = ScheduleSource::kList;
  return options;
}

/// HLOSIM_RANDOM_SEEDS=from:to runs other seeds than the usual ones.
std::pair<uint64_t, uint64_t> seeds(uint64_t from, uint64_t to) {
  if (const char* given = std::getenv("HLOSIM_RANDOM_SEEDS")) {
    char* end = nullptr;
    from = std::strtoull(given, &end, 10);
    to = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : from + 1;
  }
  return {from, to};
}

TEST(PhysicalRandomModules, OfAllOperations) {
  int ran = 0, failed = 0, bitcasts = 0;
  const auto [from, to] = seeds(0, 150);
  for (uint64_t seed = from; seed < to && failed < 5; ++seed)
    for (int which = 0; which < 6; ++which) {
      const std::string text = test::random_module(seed, seed % 2 == 0);
      const std::string problem = problem_of(text, variant(seed, which), seed, ran);
      bitcasts += is_bitcast(problem);
      if (problem.empty() || is_bitcast(problem)) continue;
      ++failed;
      ADD_FAILURE() << "seed " << seed << ", variant " << which << ": " << problem;
    }
  std::cout << ran << " runs, " << bitcasts << " of them with a bitcast that is none\n";
  EXPECT_GT(ran, static_cast<int>(to - from) * 4);
  EXPECT_LT(bitcasts * 3, ran);
}

TEST(PhysicalRandomModules, OfWhatHandsValuesOn) {
  int ran = 0, failed = 0;
  const auto [from, to] = seeds(0, 150);
  for (uint64_t seed = from; seed < to && failed < 5; ++seed)
    for (int which = 0; which < 6; ++which) {
      const std::string text = test::RandomDataflow(static_cast<uint32_t>(seed)).text();
      const std::string problem = problem_of(text, variant(seed, which), seed, ran);
      if (problem.empty()) continue;
      ++failed;
      ADD_FAILURE() << "seed " << seed << ", variant " << which << ": " << problem << text;
    }
  std::cout << ran << " runs\n";
  EXPECT_GT(ran, static_cast<int>(to - from) * 4);
}

}  // namespace
}  // namespace hlosim
