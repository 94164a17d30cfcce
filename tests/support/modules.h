// Modules from text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "hlo/printer.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"

namespace hlosim::test {

inline SourcePtr source_of(std::string_view text) {
  return std::make_shared<const SourceFile>("test.hlo", std::string(text));
}

inline std::string rendered(const DiagnosticList& diagnostics) {
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.items()) all += render(diagnostic);
  return all;
}

/// Every module of `text`; a failed test when one does not read.
inline std::vector<Module> read_or_fail(std::string_view text) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source_of(text), op_table(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << rendered(diagnostics);
  return modules;
}

/// The one module of `text`, read and verified; a failed test when it is not right.
inline Module module_or_fail(std::string_view text) {
  std::vector<Module> modules = read_or_fail(text);
  EXPECT_EQ(modules.size(), 1u);
  if (modules.empty()) return Module();
  DiagnosticList diagnostics;
  verify(modules[0], op_table(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << rendered(diagnostics);
  return std::move(modules[0]);
}

/// What reading (and verifying, unless parse_only) `text` reports, rendered.
inline std::string findings(std::string_view text, bool parse_only = false) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source_of(text), op_table(), diagnostics);
  if (!parse_only)
    for (Module& module : modules) verify(module, op_table(), diagnostics);
  return rendered(diagnostics);
}

}  // namespace hlosim::test
