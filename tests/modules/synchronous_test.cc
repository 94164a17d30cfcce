// Pairs of starts and dones as one instruction.
#include "modules/synchronous.h"

#include <gmock/gmock.h>

#include <string>

#include "support/modules.h"

namespace hlosim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string joined(std::string_view body) {
  const Module module =
      test::module_or_fail("HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n" + std::string(body) + "}\n");
  const Module plain = synchronous(module, op_table());
  const std::string text = to_text(plain, op_table());
  test::module_or_fail(text);
  return text;
}

std::string line_with(const std::string& text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const size_t from = text.rfind('\n', at) + 1;
  return text.substr(from, text.find('\n', at) - from);
}

TEST(Synchronous, APairBecomesWhatItDoes) {
  const std::string text = joined(
      "  s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}\n"
      "  ROOT d = f32[16] all-gather-done(s)\n");
  EXPECT_THAT(line_with(text, "all-gather("), HasSubstr("replica_groups={{0,1}}"));
  EXPECT_THAT(text, Not(HasSubstr("-start")));
}

TEST(Synchronous, WaitsForWhatItsPartsWaitedFor) {
  const std::string text = joined(
      "  first = f32[8] negate(p)\n"
      "  second = f32[8] abs(p)\n"
      "  s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}, "
      "control-predecessors={first}\n"
      "  d = f32[16] all-gather-done(s), control-predecessors={first, second}\n"
      "  ROOT t = (f32[8], f32[8], f32[16]) tuple(first, second, d)\n");
  EXPECT_THAT(line_with(text, "all-gather("), HasSubstr("control-predecessors={%first, %second}"));
}

// Whoever waited for the start alone may be what the end needs.
TEST(Synchronous, NobodyWaitsForAStartThatIsGone) {
  const std::string text = joined(
      "  s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}\n"
      "  n = f32[8] negate(p), control-predecessors={s}\n"
      "  d = f32[16] all-gather-done(s), control-predecessors={n}\n"
      "  ROOT t = (f32[8], f32[16]) tuple(n, d)\n");
  EXPECT_THAT(line_with(text, "negate("), Not(HasSubstr("control-predecessors")));
  EXPECT_THAT(line_with(text, "all-gather("), HasSubstr("control-predecessors={%n}"));
}

}  // namespace
}  // namespace hlosim
