// Async chains and buffers, each rule with its message.
#include "modules/module_rules.h"

#include <gmock/gmock.h>

#include "support/text_module.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

std::string first_fault(const std::string& text) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(test::source_of(text), op_table(), diagnostics);
  for (Module& module : modules)
    if (verify(module, op_table(), diagnostics)) check_module_rules(module, op_table(), diagnostics);
  return diagnostics.items().empty() ? "" : diagnostics.items()[0].message;
}

std::string chain(const std::string& body, const std::string& wrapped = "ROOT r = f32[4] add(a, b)") {
  return first_fault("HloModule m\nwrapped { a = f32[4] parameter(0)  b = f32[4] parameter(1)  " + wrapped +
                     " }\nENTRY main { x = f32[4] parameter(0)\n" + body + "\n}\n");
}

constexpr char kStart[] = "s = ((f32[4], f32[4]), f32[4], u32[]) async-start(x, x), calls=wrapped\n";

TEST(AsyncChains, StartUpdateDone) {
  EXPECT_EQ(chain(std::string(kStart) +
                  "u = ((f32[4], f32[4]), f32[4], u32[]) async-update(s)\nROOT d = f32[4] async-done(u)"),
            "");
  EXPECT_EQ(
      chain("s = ((), (), u32[]) async-start(), calls=wrapped\n"
            "u = ((f32[4], f32[4]), f32[4], u32[]) async-update(s, x, x)\nROOT d = f32[4] async-done(u)"),
      "");
}

TEST(AsyncChains, OneDone) {
  EXPECT_EQ(chain(std::string(kStart) + "ROOT n = f32[4] negate(x)"),
            "async-start: s has no matching async-done");
  EXPECT_EQ(chain(std::string(kStart) + "d = f32[4] async-done(s)\nROOT e = f32[4] async-done(s)"),
            "async-done: s is matched by several async-done instructions: d and e");
  EXPECT_EQ(chain("t = ((f32[4]), f32[4]) parameter(1)\nROOT d = f32[4] async-done(t)"),
            "async-done: d does not trace back to an async-start");
}

TEST(AsyncChains, ShapesAndOperands) {
  EXPECT_THAT(
      chain("s = ((f32[4], f32[5]), f32[4]) async-start(x, x), calls=wrapped\nROOT d = f32[4] async-done(s)"),
      HasSubstr("async-start C2: element {0} of the shape"));
  EXPECT_THAT(
      chain("s = ((f32[4], f32[4]), f32[5]) async-start(x, x), calls=wrapped\nROOT d = f32[4] async-done(s)"),
      HasSubstr("async-start C2: element {1} of the shape"));
  EXPECT_THAT(
      chain("s = ((f32[4], f32[4]), f32[4]) async-start(x), calls=wrapped\nROOT d = f32[4] async-done(s)"),
      HasSubstr("async-start C3: expects 2 operands"));
  EXPECT_THAT(chain("s = f32[4] async-start(x), calls=wrapped\nROOT d = f32[4] async-done(s)"),
              HasSubstr("async-start C1: expects the shape to be in the form of"));
  EXPECT_EQ(chain(std::string(kStart) + "ROOT d = f32[5] async-done(s)"),
            "async-done: the result f32[5] does not match that of wrapped, f32[4]");
  EXPECT_EQ(chain("s = ((f32[4]), f32[4]) async-start(x), calls=wrapped\nROOT d = f32[4] async-done(s)"),
            "async-done: 1 of 2 operands of wrapped are bound, expected all");
  EXPECT_EQ(chain("s = ((f32[4]), f32[4]) async-start(x), calls=wrapped\n"
                  "u = ((f32[4], f32[4]), f32[4]) async-update(s)\nROOT d = f32[4] async-done(u)"),
            "async-update: has 0 new operands, but its shape binds 1 new parameters");
}

TEST(AsyncChains, UsedInTheChainAlone) {
  EXPECT_THAT(
      chain(std::string(kStart) + "d = f32[4] async-done(s)\n"
                                  "ROOT c = f32[4] custom-call(d, s), custom_call_target=\"f\""),
      HasSubstr("custom-call: s is used as an operand, but may only be used by async-update, async-done"));
}

TEST(AsyncChains, WrappedComputationIsOneInstruction) {
  EXPECT_THAT(
      chain(std::string(kStart) + "ROOT d = f32[4] async-done(s)",
            "c = f32[4] negate(a)  ROOT r = f32[4] add(c, b)"),
      HasSubstr("asynchronous computation wrapped is expected to contain only the root and parameter"));
}

TEST(AsyncChains, TransfersHaveOneUser) {
  EXPECT_EQ(first_fault("HloModule m\nENTRY main { x = f32[4] parameter(0)\n"
                        "s = (f32[4], f32[4], u32[]) copy-start(x)\nROOT n = f32[4] negate(x) }"),
            "copy-start: s needs one user, but has 0");
  EXPECT_EQ(first_fault("HloModule m\nENTRY main { x = f32[4] parameter(0)\n"
                        "s = (f32[4], f32[4], u32[]) copy-start(x)\nROOT d = f32[5] copy-done(s) }"),
            "copy-done: expected instruction to have shape equal to f32[4], actual shape is f32[5]");
}

TEST(OriginalValue, IsNestedAsTheShape) {
  const auto origin = [](const std::string& shape, const std::string& value) {
    return first_fault("HloModule m\nENTRY main { ROOT x = " + shape + " parameter(0), origin=" + value +
                       " }");
  };
  EXPECT_EQ(origin("f32[2]", "{{\"a\"}}"), "");
  EXPECT_EQ(origin("(f32[2], (f32[]))", "{({}, ({\"v\" {1,0}}))}"), "");
  EXPECT_EQ(origin("(f32[2], f32[])", "{[synthetic_call]}"), "");
  EXPECT_EQ(origin("(f32[2], f32[])", "{{\"a\"}}"),
            "parameter: origin of x is not nested as the shape (f32[2], f32[])");
  EXPECT_EQ(origin("(f32[2], f32[])", "{({\"a\"})}"),
            "parameter: origin of x is not nested as the shape (f32[2], f32[])");
  EXPECT_EQ(origin("f32[2]", "{({\"a\"})}"), "parameter: origin of x is not nested as the shape f32[2]");
}

std::string buffers(const std::string& body) {
  return first_fault("HloModule m\nENTRY main { x = s32[2] parameter(0)\n" + body + "\n}\n");
}

const std::string kAlias = ", output_to_operand_aliasing={{}: (0, {})}\n";
const std::string kPin = "b = b(s32[2]) custom-call(x), custom_call_target=\"Pin\"" + kAlias;

TEST(Buffers, PinWriteUnpin) {
  EXPECT_EQ(buffers(kPin + "c = b(s32[2]) custom-call(b), custom_call_target=\"f\"" + kAlias +
                    "ROOT y = s32[2] custom-call(c), custom_call_target=\"Unpin\"" + kAlias),
            "");
}

TEST(Buffers, HoldArraysOfTheSameDynamicDimensions) {
  EXPECT_EQ(first_fault("HloModule m\nENTRY main { x = s32[<=2] parameter(0)\n" + kPin +
                        "ROOT y = s32[2] custom-call(b), custom_call_target=\"Unpin\"" + kAlias + "\n}\n"),
            "custom-call: the result of Pin is b(s32[2]), expected a buffer of s32[<=2]");
}

TEST(Buffers, OneWriter) {
  EXPECT_EQ(buffers(kPin + "c = b(s32[2]) custom-call(b), custom_call_target=\"f\"" + kAlias +
                    "d = b(s32[2]) custom-call(b), custom_call_target=\"g\"" + kAlias +
                    "ROOT y = s32[2] custom-call(c), custom_call_target=\"Unpin\"" + kAlias),
            "custom-call: the buffer at {} of b has 2 writers (or unpins), expected at most one");
}

TEST(Buffers, EveryBufferIsAliased) {
  EXPECT_EQ(buffers(kPin + "ROOT y = s32[2] custom-call(b), custom_call_target=\"f\""),
            "custom-call: the buffer at {} of operand 0 is not used in the results");
  EXPECT_EQ(buffers("ROOT y = b(s32[2]) custom-call(x), custom_call_target=\"f\""),
            "custom-call: the buffer at {} of the result is none of the operands");
  EXPECT_EQ(buffers("ROOT y = b(s32[2]) custom-call(x), custom_call_target=\"Pin\""),
            "custom-call: Pin must have one entry of output_to_operand_aliasing, but has 0");
  EXPECT_EQ(buffers(kPin + "ROOT y = s32[2] custom-call(b), custom_call_target=\"Unpin\""),
            "custom-call: Unpin must have one entry of output_to_operand_aliasing, but has 0");
}

TEST(Buffers, OnlySomeInstructionsHandleThem) {
  EXPECT_EQ(first_fault("HloModule m\nENTRY main { ROOT x = b(s32[2]) parameter(0) }"),
            "parameter: x handles a buffer, which is not allowed here");
}

}  // namespace
}  // namespace hlosim
