// Keys that change nothing are found by running without each, as many as the module's length allows.
#include "estimate/unused_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/estimated.h"

namespace hlosim {
namespace {

// Four instructions, none of which has work for the cross-lane units or goes over links.
constexpr std::string_view kText = R"(HloModule four
ENTRY main {
  x = f32[8,128]{1,0:T(8,128)} parameter(0)
  y = f32[8,128]{1,0:T(8,128)} parameter(1)
  sum = f32[8,128]{1,0:T(8,128)} add(x, y)
  ROOT twice = f32[8,128]{1,0:T(8,128)} add(sum, sum)
}
)";

UnusedKeys unused(size_t most) {
  const std::vector<DeviceOverride> changes = {
      {"xlu.cadence", "7 cycles"}, {"vpu.alus", "1"}, {"ici.hop_latency", "3 us"}};
  const test::Estimated run = test::estimated(kText, "v6e", changes);
  EXPECT_EQ(run.module->instructions.size(), 4u);
  return keys_without_effect(*run.module, op_table(), run.device, {{}, Lowering::kNever}, run.estimate, most);
}

std::vector<std::string> paths(const UnusedKeys& unused) {
  std::vector<std::string> result;
  for (const UnusedKey& key : unused.keys) result.push_back(key.path);
  return result;
}

TEST(UnusedKeys, AreThoseWithoutWhichAllStaysAsItIs) {
  const UnusedKeys all = unused(kMostInstructionRuns);
  EXPECT_EQ(paths(all), (std::vector<std::string>{"xlu.cadence", "ici.hop_latency"}));
  EXPECT_EQ(all.unchecked, 0u);
}

// A run that would be one instruction too many isn't begun, and counted instead.
TEST(UnusedKeys, EachRunCountsTheModulesInstructions) {
  const std::pair<size_t, size_t> unchecked_by_limit[] = {{12, 0}, {11, 1}, {8, 1}, {7, 2},
                                                          {4, 2},  {3, 3},  {0, 3}};
  for (const auto& [most, unchecked] : unchecked_by_limit) {
    const UnusedKeys some = unused(most);
    EXPECT_EQ(some.unchecked, unchecked) << most;
    EXPECT_EQ(paths(some).size(), 2 - std::min<size_t>(unchecked, 2))
        << most;  // the first of three has effect
  }
}

}  // namespace
}  // namespace hlosim
