// The watch over executions sees what it is there for: aborts, crashes, hangs, too much memory.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "campaign.h"

namespace hlosim::fuzz {
namespace {

using ::testing::HasSubstr;

/// Of this process alone: ctest runs each test in a process of its own, several at once.
std::string error_file() { return testing::TempDir() + "fuzz-" + std::to_string(::getpid()) + ".err"; }

Outcome outcome_of_work(const std::function<void()>& work, double seconds = 0.3) {
  Apart apart([&](const std::string&) { work(); }, {.seconds = seconds, .bytes = int64_t{1} << 28},
              error_file());
  return apart.execute("");
}

TEST(Apart, GoesOnAfterAFault) {
  Apart apart([](const std::string& input) { HLOSIM_CHECK(input != "bad"); }, {}, error_file());
  for (const char* input : {"good", "bad", "good", "good", "bad", ""})
    EXPECT_EQ(apart.execute(input).fault == Fault::kNone, input != std::string("bad"));
}

TEST(Apart, NothingHappens) {
  EXPECT_EQ(outcome_of_work([] {}).fault, Fault::kNone);
}

TEST(Apart, FailedChecksAreToldApart) {
  const auto fail = [](int value) { return outcome_of_work([=] { HLOSIM_CHECK(value == 0, "{}", value); }); };
  const Outcome one = fail(1), two = fail(2);
  EXPECT_EQ(one.fault, Fault::kSignal);
  EXPECT_THAT(one.key, HasSubstr("value == #"));
  EXPECT_EQ(one.key, two.key);  // the same check
  EXPECT_NE(one.key, outcome_of_work([] { HLOSIM_CHECK(false); }).key);
  EXPECT_THAT(two.text, HasSubstr(": 2"));
}

TEST(Apart, CrashesAreSeen) {
  EXPECT_EQ(outcome_of_work([] { ::raise(SIGSEGV); }).fault, Fault::kSignal);
  EXPECT_EQ(outcome_of_work([] { std::_Exit(3); }).fault, Fault::kSignal);
}

TEST(Apart, HangsEnd) {
  const Outcome outcome = outcome_of_work([] {
    for (std::atomic<uint64_t> count = 0;;) ++count;
  });
  EXPECT_EQ(outcome.fault, Fault::kHang);
}

TEST(Apart, MemoryIsLimited) {
  // Pages are slow to come on some machines: this takes more time than a hang may.
  const auto work = [] {
    std::vector<std::vector<char>> held;
    for (;;) held.emplace_back(1 << 20, 'x');
  };
  const Outcome outcome = outcome_of_work(work, 20);
  EXPECT_EQ(outcome.fault, Fault::kMemory);
}

/// Deep enough that who called it doesn't matter.
[[gnu::noinline]] size_t fail_on_three(size_t size, size_t depth) {
  HLOSIM_CHECK(size % 3 != 0 || depth > 0, "three");
  return depth > 0 ? fail_on_three(size, depth - 1) + 1 : 0;
}

bool fails_on_three(const Bench&, const std::string& input, Random&) {
  return fail_on_three(input.size(), 6) > 0;
}

/// A bench with one text of several lines.
Bench small_bench() {
  Bench bench;
  bench.folder = testing::TempDir();
  PoolMaker maker;
  maker.add("one", "a: 1\nb: [2, 3]\nc: text\n");
  bench.pools[static_cast<size_t>(InputForm::kGate)] = maker.finish();
  return bench;
}

TEST(Campaign, FindsWhatFailsAndGoesOn) {
  const Bench bench = small_bench();
  const Target target{"three", InputForm::kGate, fails_on_three};
  std::vector<uint64_t> told;
  const Campaign campaign = run_campaign(
      bench, {.targets = {&target}, .seconds = 60, .executions = 300, .seed = 1, .workers = 2, .limits = {}},
      [&](const Finding& finding) { told.push_back(finding.number); });
  ASSERT_EQ(campaign.findings.size(), 1u) << campaign.findings.back().outcome.key;
  EXPECT_EQ(told.size(), 1u);
  EXPECT_EQ(campaign.counts[0].executions, 300u);
  uint64_t expected = 0;
  for (uint64_t number = 0; number < 300; ++number)
    expected += make_execution(bench, target, 1, number).input.size() % 3 == 0;
  EXPECT_EQ(campaign.findings[0].times, expected);
  EXPECT_EQ(campaign.counts[0].right, 300 - expected);
  EXPECT_EQ(make_execution(bench, target, 1, told[0]).input.size() % 3, 0u);
}

TEST(Campaign, OtherSeedsMakeOtherInputs) {
  const Bench bench = small_bench();
  const Target target{"three", InputForm::kGate, fails_on_three};
  size_t different = 0;
  for (uint64_t number = 0; number < 50; ++number)
    different +=
        make_execution(bench, target, 1, number).input != make_execution(bench, target, 2, number).input;
  EXPECT_GT(different, 40u);
}

}  // namespace
}  // namespace hlosim::fuzz
