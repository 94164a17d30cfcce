// Allocations stand before their first users.
#include "lower/sink_allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_after_sinking(const std::string& text) {
  Module module = test::module_or_fail(text);
  sink_allocations(module);
  std::vector<std::string> names;
  for (const InstructionId id : module.entry_computation().instructions) names.emplace_back(module[id].name);
  return names;
}

TEST(SinkAllocations, StandBeforeTheirFirstUser) {
  EXPECT_THAT(names_after_sinking(R"(HloModule m, is_scheduled=true
ENTRY e {
  buffer = f32[4,8] custom-call(), custom_call_target="AllocateBuffer"
  other = f32[4,8] custom-call(), custom_call_target="AllocateBuffer"
  p = f32[8] parameter(0)
  a = f32[8] negate(p)
  b = f32[4,8] negate(other)
  ROOT t = (f32[4,8], f32[8], f32[4,8], f32[4,8]) tuple(buffer, a, b, other)
})"),
              ElementsAre("p", "a", "other", "b", "buffer", "t"));
}

TEST(SinkAllocations, UnusedAndOrderedOnesStay) {
  EXPECT_THAT(names_after_sinking(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8] parameter(0)
  unused = f32[4,8] custom-call(), custom_call_target="AllocateBuffer"
  ordered = f32[4,8] custom-call(), custom_call_target="AllocateBuffer", control-predecessors={p}
  a = f32[8] negate(p), control-predecessors={unused}
  b = f32[8] negate(a)
  ROOT t = (f32[8], f32[4,8]) tuple(b, ordered)
})"),
              ElementsAre("p", "ordered", "unused", "a", "b", "t"));
}

}  // namespace
}  // namespace hlosim
