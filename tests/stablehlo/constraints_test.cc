// Programs that the dialect forbids, each for one reason: a folder of texts whose pieces name the error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hlo/verifier.h"
#include "ops/op_table.h"
#include "stablehlo/read_stablehlo.h"
#include "support/folders.h"
#include "support/modules.h"

namespace hlosim::stablehlo {
namespace {

constexpr std::string_view kBorder = "// -----\n", kExpected = "// error: ";

std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(kBorder, at), text.size());
    pieces.emplace_back(text.substr(at, end - at));
    at = std::min(end + kBorder.size(), text.size());
  }
  return pieces;
}

/// What the piece says is wrong with it; empty: nothing.
std::string expected_of(std::string_view piece) {
  const size_t at = piece.find(kExpected);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = piece.substr(at + kExpected.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

struct Found {
  std::string message;
  int line = 0;
};
/// The first error; no message: there is none.
Found first_error(const std::string& piece) {
  DiagnosticList findings;
  const SourcePtr source = test::source_of(piece);
  std::vector<Module> modules = stablehlo::read_modules(source, op_table(), findings);
  for (Module& module : modules) verify(module, op_table(), findings);
  for (const Diagnostic& finding : findings.items())
    if (finding.severity == Severity::kError)
      return {finding.message, static_cast<int>(source->locate(finding.offset).line)};
  return {};
}

TEST(Constraints, ForbiddenProgramsAreRefusedAtTheOperation) {
  size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_folder() / "tests/stablehlo/forbidden"))
    for (const std::string& piece : pieces_of(test::file_text(entry.path()))) {
      const std::string expected = expected_of(piece);
      ASSERT_NE(expected, "") << piece;
      const Found found = first_error(piece);
      EXPECT_EQ(found.message, expected) << entry.path().filename() << ":\n" << piece;
      // The comments and the function's first line are before it.
      EXPECT_GE(found.line, 3) << piece;
      ++seen;
    }
  EXPECT_GT(seen, 500U);
}

TEST(Constraints, PermittedProgramsAreRead) {
  size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_folder() / "tests/stablehlo/permitted"))
    for (const std::string& piece : pieces_of(test::file_text(entry.path()))) {
      EXPECT_EQ(first_error(piece).message, "") << entry.path().filename() << ":\n" << piece;
      ++seen;
    }
  EXPECT_GT(seen, 20U);
}

}  // namespace
}  // namespace hlosim::stablehlo
