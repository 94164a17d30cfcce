// Calls of calls: to any depth, and without doubling a module with every level.
#include "lower/inline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "support/modules.h"

namespace hlosim {
namespace {

/// Computations level0 … level<levels>, each of which calls the one before it `times` times; the entry calls
/// the last.
std::string nested_calls(int levels, int times) {
  std::string text =
      "HloModule m\n\nlevel0 {\n  p = f32[8]{0} parameter(0)\n  ROOT n = f32[8]{0} negate(p)\n}\n\n";
  for (int level = 1; level <= levels; ++level) {
    text += fmt::format("level{} {{\n  v0 = f32[8]{{0}} parameter(0)\n", level);
    for (int i = 1; i <= times; ++i)
      text += fmt::format("  {}v{} = f32[8]{{0}} call(v{}), to_apply=level{}\n", i == times ? "ROOT " : "", i,
                          i - 1, level - 1);
    text += "}\n\n";
  }
  return text + fmt::format(
                    "ENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n"
                    "  ROOT r = f32[8]{{0}} call(p), to_apply=level{}\n}}\n",
                    levels);
}

Module inlined(const std::string& text) {
  Module module = test::module_or_fail(text);
  ModuleEditor editor(module);
  inline_calls(editor, op_table());
  return module;
}

TEST(Inline, CallsInCallsToAnyDepth) {
  const Module module = inlined(nested_calls(kMostNested - 2, 1));
  EXPECT_EQ(module.entry_computation().instructions.size(), 2u);  // the parameter and its negation
}

TEST(Inline, DeeperThanTheVerifierAllowsIsAnErrorBefore) {
  DiagnosticList findings;
  std::vector<Module> modules = read_modules(
      std::make_shared<SourceFile>("deep.hlo", nested_calls(kMostNested, 1)), op_table(), findings);
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_FALSE(verify(modules[0], op_table(), findings));
  EXPECT_NE(test::rendered(findings).find("1001 computations deep in each other, more than 1000"),
            std::string::npos);
}

// Calls of calls would double with every level.
TEST(Inline, SharedComputationsThatCallStayCalls) {
  const Module module = inlined(nested_calls(60, 2));
  EXPECT_LT(module.instructions.size(), 1000u);
}

}  // namespace
}  // namespace hlosim
