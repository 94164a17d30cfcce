// Pieces of modules are read, whatever they are cut from.
#include "input/partial_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "input/load_modules.h"
#include "ops/op_table.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

SourcePtr source_of(std::string text) {
  return std::make_shared<const SourceFile>("piece.hlo", std::move(text));
}

TEST(PartialText, WhatIsWholeStaysAsItIs) {
  const SourcePtr whole = source_of("HloModule m\n\nENTRY e {\n  ROOT p = f32[8]{0} parameter(0)\n}\n");
  const PartialText read = complete(whole, op_table(), {});
  EXPECT_EQ(read.source, whole);
  EXPECT_TRUE(read.missing.empty());
}

TEST(PartialText, LinesStayWhereTheyWere) {
  const PartialText read =
      complete(source_of("%a.1 = f32[8]{0} add(f32[8]{0} %x, f32[8]{0} %x)\n%b.2 = f32[8]{0} negate(%a.1)\n"),
               op_table(), {});
  DiagnosticList findings;
  const std::vector<Module> modules = load_modules(read.source, op_table(), findings);
  ASSERT_FALSE(findings.has_errors()) << test::rendered(findings);
  ASSERT_EQ(modules.size(), 1u);
  for (const Instruction& instruction : modules[0].instructions)
    if (instruction.name == "b.2") {
      EXPECT_EQ(read.source->locate(instruction.opcode_offset).line, 2);
    }
}

// Cut after any line: modules of ours are one computation after the other, one instruction a line.
TEST(PartialText, FirstLinesOfModules) {
  size_t cuts = 0, right = 0;
  for (const std::filesystem::path& file : test::own_modules()) {
    const Result<SourcePtr> whole = read_source(file);
    ASSERT_TRUE(whole);
    const std::string_view text = (*whole)->text();
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
    for (size_t keep = 2; keep < lines; keep += 1 + lines / 5) {
      size_t at = 0;
      for (size_t i = 0; i < keep; ++i) at = text.find('\n', at) + 1;
      const PartialText read = complete(source_of(std::string(text.substr(0, at))), op_table(), {});
      DiagnosticList findings;
      load_modules(read.source, op_table(), findings);
      ++cuts;
      right += !findings.has_errors();
    }
  }
  EXPECT_GT(cuts, 60u);
  EXPECT_GE(right * 100, cuts * 90) << right << " of " << cuts;
}

}  // namespace
}  // namespace hlosim
