#include "input/input_forms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

int preference(std::string_view file, std::string_view stem) {
  const int found = take_form_ending(file);
  EXPECT_EQ(file, stem);
  return found;
}

TEST(InputForms, TextComesBeforeProtosAndPlainBeforePacked) {
  int last = 0;
  for (const char* file : {"m.hlo.pb.gz", "m.hlo.pb", "m.hlo.zst", "m.hlo", "m.hlo.txt.gz", "m.txt"}) {
    const int here = preference(file, "m");
    EXPECT_GT(here, last) << file;
    last = here;
  }
  EXPECT_EQ(preference("m.txt", "m"), preference("m.hlo.txt", "m"));
  EXPECT_EQ(preference("m.json", "m.json"), 0);
  EXPECT_EQ(preference("m.gz", "m"), 0);
}

TEST(InputForms, EveryRowEndsInText) {
  ASSERT_FALSE(input_forms().empty());
  EXPECT_EQ(input_forms().back().holds, nullptr);
  for (const InputForm& form : input_forms()) EXPECT_EQ(form.holds == nullptr, form.unfold == nullptr);
  const auto text = as_text(std::make_shared<const SourceFile>("m", "HloModule m"));
  ASSERT_TRUE(text);
  EXPECT_EQ((*text)->text(), "HloModule m");
}

/// The modules of a file that holds `bytes`; how its first error begins, if it has one.
std::pair<size_t, std::string> read_bytes(std::string_view bytes) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("hlosim_marks_{}.hlo", getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  const Result<SourcePtr> source = read_source(path.string());
  std::filesystem::remove(path);
  if (!source) return {0, source.error().message};
  DiagnosticList findings;
  const size_t count = load_modules(*source, op_table(), findings).size();
  return {count, findings.has_errors() ? findings.items()[0].message + "; " + findings.items()[0].hint : ""};
}

// What editors put before a text, and how they end its lines.
TEST(InputForms, MarksOfEncodings) {
  constexpr std::string_view kText = "HloModule m\r\nENTRY e {\r\n  ROOT p = f32[4] parameter(0)\r\n}\r\n";
  const std::string mlir = "builtin.module @m {\n func private @g()\n func @main() {\n return\n }\n}\n";
  for (const std::string mark : {"", "\xef\xbb\xbf"})
    for (const std::string& text : {std::string(kText), mlir, mlir.substr(mlir.find("func"), 45)})
      EXPECT_EQ(read_bytes(mark + text), std::pair(size_t{1}, std::string())) << text;
  std::string wide = "\xff\xfe";
  for (const char c : kText) wide += {c, '\0'};
  EXPECT_EQ(read_bytes(wide),
            std::pair(size_t{0}, std::string("this is text in UTF-16, not HLO text; write it in UTF-8")));
  // A computation may be called so.
  EXPECT_EQ(read_bytes("func {\n  ROOT p = f32[4] parameter(0)\n}\n").second.find("MLIR"), std::string::npos);
}

}  // namespace
}  // namespace hlosim
