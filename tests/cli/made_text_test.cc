#include "cli/tune/made_text.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(MadeText, IsReadBeforeAnybodyGetsIt) {
  EXPECT_TRUE(
      verify_emitted_text("HloModule m\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n", "lower", "m"));
  // Two computations of one name, as a pass that makes up a name that exists would leave them.
  const std::string text =
      "HloModule m\nf {\n  ROOT p = f32[8] parameter(0)\n}\nf {\n  ROOT q = f32[8] parameter(0)\n}\n"
      "ENTRY e {\n  p = f32[8] parameter(0)\n  ROOT r = f32[8] call(p), to_apply=f\n}\n";
  const Result<void> wrong = verify_emitted_text(text, "tune prefetch", "m");
  ASSERT_FALSE(wrong);
  const std::string message = render(wrong.error());
  // Nobody takes it for a fault of the module.
  EXPECT_TRUE(message.starts_with("what tune prefetch made of m:5:1: error: internal error: ")) << message;
  EXPECT_NE(message.find("a fault of hlosim, not of the module"), std::string::npos) << message;
}

}  // namespace
}  // namespace hlosim
