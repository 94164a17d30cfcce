// Keys that no recorded term of a run names have no effect on it (tests/report/read_keys_test.cc tries that).
#include "estimate/unused_keys.h"

#include <fmt/format.h>
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

std::vector<std::string> unused(std::string_view text, const std::string& device,
                                const std::vector<DeviceOverride>& changes) {
  std::vector<std::string> paths;
  for (const UnusedKey& key : test::estimated(text, device, changes).report.unused_keys.keys)
    paths.push_back(key.path);
  return paths;
}

TEST(UnusedKeys, AreThoseThatNoTermNames) {
  const std::vector<DeviceOverride> changes = {
      {"xlu.cadence", "7 cycles"}, {"vpu.alus", "1"}, {"ici.hop_latency", "3 us"}};
  EXPECT_EQ(unused(kText, "v6e", changes), (std::vector<std::string>{"xlu.cadence", "ici.hop_latency"}));
}

// Of many rows in a group, and of few.
TEST(UnusedKeys, TheStepOfAGridIsReadByRaggedDots) {
  for (const int rows : {4096, 64}) {
    const std::string text = fmt::format(R"(HloModule experts, is_scheduled=true
ENTRY main {{
  tokens = bf16[{0},2048]{{1,0:T(8,128)(2,1)}} parameter(0)
  weights = bf16[8,2048,1024]{{2,1,0:T(8,128)(2,1)}} parameter(1)
  sizes = s32[8]{{0:T(256)}} parameter(2)
  ROOT product = bf16[{0},1024]{{1,0:T(8,128)(2,1)}} ragged-dot(tokens, weights, sizes), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, rhs_group_dims={{0}}
}}
)",
                                         rows);
    EXPECT_EQ(unused(text, "v5e", {{"overhead.grid_step", "50 us"}}), std::vector<std::string>{}) << rows;
    EXPECT_EQ(unused(text, "v5e", {{"overhead.grid_step", "1 ns"}}), std::vector<std::string>{}) << rows;
  }
}

TEST(UnusedKeys, OfModulesThatAreTooLargeAreNotChecked) {
  const test::Estimated run = test::estimated(kText, "v6e", {{"xlu.cadence", "7 cycles"}, {"vpu.alus", "1"}});
  const EstimateOptions options{{}, Lowering::kNever};
  const size_t count = run.module->instructions.size();
  EXPECT_EQ(
      keys_without_effect(*run.module, op_table(), run.device, options, run.estimate, count - 1).unchecked,
      2u);
  EXPECT_EQ(keys_without_effect(*run.module, op_table(), run.device, options, run.estimate, count).unchecked,
            0u);
}

}  // namespace
}  // namespace hlosim
