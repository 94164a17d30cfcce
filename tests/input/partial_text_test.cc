// Pieces of modules are read, whatever they are cut from.
#include "input/partial_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hlo/printer.h"
#include "input/load_modules.h"
#include "input/log_lines.h"
#include "input/partial_lines.h"
#include "ops/op_table.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

SourcePtr piece_of(std::string text) {
  return std::make_shared<const SourceFile>("piece.hlo", std::move(text));
}

TEST(PartialText, WhatIsWholeStaysAsItIs) {
  const SourcePtr whole = piece_of("HloModule m\n\nENTRY e {\n  ROOT p = f32[8]{0} parameter(0)\n}\n");
  const PartialText read = complete(whole, op_table(), {});
  EXPECT_EQ(read.source, whole);
  EXPECT_TRUE(read.missing.empty());
}

TEST(PartialText, LinesStayWhereTheyWere) {
  const PartialText read =
      complete(piece_of("%a.1 = f32[8]{0} add(f32[8]{0} %x, f32[8]{0} %x)\n%b.2 = f32[8]{0} negate(%a.1)\n"),
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
      const PartialText read = complete(piece_of(std::string(text.substr(0, at))), op_table(), {});
      if (read.is_empty) continue;  // headers alone
      DiagnosticList findings;
      load_modules(read.source, op_table(), findings);
      ++cuts;
      right += !findings.has_errors();
    }
  }
  EXPECT_GT(cuts, 60u);
  EXPECT_GE(right * 100, cuts * 90) << right << " of " << cuts;
}

TEST(PartialText, PrefixesOfLogs) {
  constexpr std::string_view kLogged[] = {
      "2020-06-30 21:49:29.305162: E    6014 tensorflow/xla_util.cc:76] ",
      "I0000 00:00:1786725641.319229 3832099 service.cc:178] ",
      "[rank0]: I0321 12:00:00.000001   12 hlo_pass.cc:9]",
      "WARNING:2024-01-01 00:00:00,000:jax/_src/dispatch.py:104] ",
  };
  for (const std::string_view prefix : kLogged) {
    const std::string line = std::string(prefix) + "%a = f32[8]{0} parameter(0)";
    EXPECT_EQ(log_prefix(line), prefix.size()) << prefix;
    EXPECT_EQ(without_prefixes(line + "\n").text,
              std::string(prefix.size(), ' ') + "%a = f32[8]{0} parameter(0)\n");
  }
  for (const std::string_view line :
       {"HloModule m", "%a = f32[8]{0} parameter(0), metadata={op_name=\"a.cc:1] b\"}",
        "ROOT s.1 = f32[2] add(a.2, b)", "  slice={[0:2], [1:3]}", "devices=[2]0,1", "}", "", "]", ":1]",
        ".cc:1]", "a.cc:] b", "a. cc:1] b"})
    EXPECT_EQ(log_prefix(line), 0u) << line;
}

// Modules of ours, logged line by line behind what else a program says.
TEST(PartialText, LogsOfModules) {
  constexpr std::string_view kPrefix = "I0000 00:00:17.31 38 service.cc:178] ";
  size_t logs = 0, right = 0;
  for (const std::filesystem::path& file : test::own_modules()) {
    const Result<SourcePtr> whole = read_source(file);
    ASSERT_TRUE(whole);
    const std::string_view text = (*whole)->text();
    if (text.find("HloModule ") == std::string_view::npos ||
        text.find("HloModule ") != text.rfind("HloModule "))
      continue;
    std::string log = std::string(kPrefix) + "Compiling for 8 devices\n";
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      log += std::string(kPrefix) + std::string(text.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    DiagnosticList findings, plain;
    const PartialText completed = complete(piece_of(log), op_table(), {});
    const std::vector<Module> made = load_modules(completed.source, op_table(), findings);
    const std::vector<Module> given = load_modules(*whole, op_table(), plain);
    if (given.size() != 1) continue;
    ++logs;
    right += made.size() == 1 && made[0].instructions.size() == given[0].instructions.size();
  }
  EXPECT_GT(logs, 15u);
  EXPECT_GE(right * 100, logs * 95) << right << " of " << logs;
}

TEST(PartialText, WordsAroundHloAndLinesThatGoOn) {
  const PartialText read =
      complete(piece_of("The step, as printed:\n```hlo\n"
                        "HloModule step\n\n"
                        "ENTRY %main\n  (p: f32[8]) -> f32[8] {\n"
                        "  %p = f32[8]{0} parameter(0)\n"
                        "  # what takes longest\n"
                        "  %twice = f32[8]{0}\n    add(%p,\n        %p),\n    metadata={op_name=\"twice\"},\n"
                        "    backend_config={\"a\":[],\n"
                        "      \"b\":[1]}\n"
                        "  ROOT %n = f32[8]{0} negate(%twice),\n    metadata={\n```\nThanks!\n"),
               op_table(), {});
  DiagnosticList findings;
  const std::vector<Module> modules = load_modules(read.source, op_table(), findings);
  ASSERT_FALSE(findings.has_errors()) << test::rendered(findings) << read.source->text();
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].name, "step");
  const auto twice =
      std::ranges::find(modules[0].instructions, std::string_view("twice"), &Instruction::name);
  ASSERT_NE(twice, modules[0].instructions.end());
  EXPECT_TRUE(twice->find(AttrKey::kBackendConfig));
  EXPECT_EQ(read.source->locate(twice->opcode_offset).line, 10);
}

// Where a line with a brace alone stands says what it closes.
TEST(PartialText, BracesOfConfigsAndOfComputations) {
  const auto errors = [](std::string text) {
    DiagnosticList findings;
    load_modules(complete(piece_of(std::move(text)), op_table(), {}).source, op_table(), findings);
    return findings.error_count();
  };
  const std::string config =
      "HloModule m\n\n  ENTRY e {\n    p = f32[8]{0} parameter(0)\n"
      "    c = f32[8]{0} custom-call(p), custom_call_target=\"t\", backend_config={\n"
      "      \"a\":{\n      }\n    }\n";
  EXPECT_EQ(errors(config + "    ROOT n = f32[8]{0} nega"), 0u);
  EXPECT_EQ(errors(config + "    ROOT n = f32[8]{0} negate(c)\n  }\n"), 0u);
  EXPECT_EQ(errors("HloModule m\n\nENTRY e {\n  a = f32[8]{0} parameter(0)\n  b = f32[8]{0} negate(a), "
                   "metadata={\n}\n"),
            1u);
  EXPECT_EQ(errors("const char* kHlo = R\"(\nHloModule m\n\nENTRY e {\n  ROOT p = f32[8]{0} "
                   "parameter(0)\n})\";\n  Run(kHlo);\n"),
            0u);
  EXPECT_EQ(
      errors(
          "HloModule m\n\nbody {\n  p = (f32[8], f32[8]) parameter(0)\n  a = get-tuple-element(p), index=0\n"
          "  b = get-tuple-element(p), index=1\n  ROOT s = add(a, b)\n}\n\nENTRY e {\n  q = f32[8] "
          "parameter(0)\n"
          "  t = tuple(q, q)\n  n = negate(q)\n  c = f32[8] ca"),
      0u);
  EXPECT_EQ(errors(".1 = f32[8]{0} negate(a)\n  %b.2  = f32[8]{0} negate(f32[8]{0} %c)  // (what else\n"),
            0u);
}

/// What the reader says of `text` made whole: its modules as text, or the errors.
std::string read_back(std::string text) {
  DiagnosticList findings;
  const std::vector<Module> modules =
      load_modules(piece_of(std::move(text)), op_table(), findings, {{}, {}, true});
  if (findings.has_errors()) return test::rendered(findings);
  std::string out;
  for (const Module& module : modules) out += to_text(module, op_table()) + "\n";
  return out;
}

// `to_apply={` with the computation behind it, whole or cut anywhere: what is whole stays, the rest goes.
TEST(PartialText, ComputationsInsideInstructions) {
  const std::string text =
      "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n"
      "  s = f32[] reduce(p, z), dimensions={0}, to_apply={\n    a = f32[] parameter(0)\n"
      "    b = f32[] parameter(1)\n    ROOT c = f32[] add(a, b)\n  }\n  n = f32[] negate(s)\n";
  const size_t begin = text.find("to_apply={") + 10, end = text.find("  n =");
  for (size_t cut = begin; cut <= text.size(); ++cut) {
    const std::string read = read_back(text.substr(0, cut));
    EXPECT_EQ(read.find("error"), std::string::npos) << cut << read;
    EXPECT_EQ(read.find("reduce(") != std::string::npos, cut + 1 >= end) << cut << read;
    EXPECT_EQ(read.find("custom-call"), std::string::npos) << cut << read;
  }
}

// An error in each of many lines: quadratic, this takes minutes.
TEST(PartialText, ManyWrongInstructions) {
  std::string text = "ENTRY e {\n  p = f32[8] parameter(0)\n";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("  x{} = f32[9] negate(p)\n", i);
  DiagnosticList findings;
  const PartialText read = complete(piece_of(text), op_table(), {});
  load_modules(read.source, op_table(), findings);
  EXPECT_FALSE(findings.has_errors());
  EXPECT_GT(read.missing.size(), 50'000u);
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// How many are found in `text` with one more behind it.
size_t instructions_of(const std::string& text) {
  size_t count = 0;
  const std::string whole = text + "z = f32[8] negate(y)\n";
  const PartialLines lines = parse_lines(whole);
  for (const PartialComputation& computation : lines.computations) count += computation.instructions.size();
  return count;
}

// Lines that could be the beginning of much: each is looked at a few times. Quadratic, these take minutes.
TEST(PartialText, LongTextsOfUnfinishedLines) {
  EXPECT_EQ(instructions_of(repeated("a\n(\n", 200'000)), 1u);
  EXPECT_EQ(instructions_of(repeated("a = b(" + repeated("\n }", 4000) + "\n", 60)), 61u);
  EXPECT_EQ(instructions_of(repeated("a = b{" + repeated("\n{}", 4000) + "\n", 60)), 1u);
  EXPECT_EQ(instructions_of(repeated("a = b" + repeated("\n" + std::string(100, 'x'), 4000) + "\n", 5)), 1u);
}

TEST(PartialText, SignaturesEndBeforeOtherThings) {
  EXPECT_EQ(
      parse_lines("%f\n(a: f32[])\n-> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n").computations.size(), 1u);
  const PartialLines lines =
      parse_lines("Hello\n(all of you)\nHloModule m\nENTRY e {\n  ROOT a = f32[] parameter(0)\n}\n");
  EXPECT_EQ(lines.headers, (std::vector<size_t>{2}));
  ASSERT_EQ(lines.computations.size(), 1u);
  EXPECT_EQ(lines.computations[0].name, "e");
}

TEST(PartialText, CommentsThatBeginWithTheirEnd) {
  std::string text = "/*/ a */b //\nc";
  blank_comments(text);
  EXPECT_EQ(text, "        b   \nc");
}

TEST(PartialText, QuotesInStrings) {
  const PartialLines lines = parse_lines(R"(a = f32[] parameter(0), metadata={op_name="x\"y"})");
  ASSERT_EQ(lines.computations.size(), 1u);
  EXPECT_EQ(lines.computations[0].instructions[0].attributes, R"(metadata={op_name="x\"y"})");
}

// A log's own lines go; an instruction that isn't understood is an error, as it is without a log.
TEST(PartialText, LogsWithBrokenInstructions) {
  constexpr std::string_view kPrefix = "I0000 00:00:17.31 38 service.cc:178] ";
  const auto logged = [&](std::string_view line) {
    const std::string at(kPrefix);
    return at + "HloModule m\n" + at + "ENTRY e {\n" + at + "  p = f32[8]{0} parameter(0)\n" + at +
           std::string(line) + "\n" + at + "  ROOT r = f32[8]{0} add(p, q)\n" + at + "}\n";
  };
  EXPECT_NE(read_back(logged("  q = f32[8]{0} negate(p), frob={")).find(": error: "), std::string::npos);
  EXPECT_NE(read_back(logged("  %q = f32[8]{0} negate(p), frob={")).find(": error: "), std::string::npos);
  for (const char* words : {"Compiling for 8 devices", "threads per core = 2"}) {
    const std::string read = read_back(logged(words));
    EXPECT_EQ(read.find(": error: "), std::string::npos) << read;
    EXPECT_NE(read.find("a line that is not HLO is left out"), std::string::npos) << read;
  }
}

TEST(PartialText, TextsWithoutHlo) {
  for (const char* text : {"hello there\n", "", "HloModule m\n", "HloModule m\n\nENTRY e {\n}\n",
                           "I0000 00:00:17.31 38 service.cc:178] hello\n"})
    EXPECT_NE(read_back(text).find("error: no HLO instruction is found in this text"), std::string::npos)
        << text;
}

TEST(PartialText, WordsWithSymbolsBeforeHlo) {
  const std::string read =
      read_back("Compiling @jit_f\nHloModule m\n\nENTRY e {\n  ROOT p = f32[8]{0} parameter(0)\n}\n");
  EXPECT_TRUE(read.starts_with("HloModule m, ")) << read;
  EXPECT_NE(read.find("a line that is not HLO is left out"), std::string::npos) << read;
}

TEST(PartialText, ModulesKeepTheirHeaders) {
  const std::string a =
      "HloModule a, is_scheduled=true, num_partitions=2\n\n%f (p: f32[8]) -> f32[8] {\n"
      "  ROOT %p = f32[8]{0} parameter(0)\n}\n\n";
  const std::string b = "HloModule b, replica_count=4\n\nENTRY %f {\n  ROOT %p = f32[8]{0} parameter(0)\n}\n";
  const PartialText completed = complete(
      piece_of("  %x = f32[8]{0} negate(f32[8]{0} %y)\n}\n" + a + b + "HloModule c\n"), op_table(), {});
  DiagnosticList findings;
  const std::vector<Module> modules = load_modules(completed.source, op_table(), findings);
  ASSERT_FALSE(findings.has_errors()) << test::rendered(findings) << completed.source->text();
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].name, "pieces");
  EXPECT_EQ(modules[1].name, "a");
  EXPECT_EQ(modules[1].num_partitions(), 2);
  EXPECT_EQ(modules[1].computations.size(), 2u) << "an entry is made for it";
  EXPECT_EQ(modules[2].name, "b");
  EXPECT_EQ(modules[2].replica_count(), 4);
  EXPECT_EQ(modules[2].computations.size(), 1u);
  EXPECT_EQ(completed.source->locate(modules[2].instructions.begin()->opcode_offset).line, 12);
  EXPECT_TRUE(std::ranges::any_of(completed.missing, [](const Diagnostic& note) {
    return note.message == "a module of which nothing but its header is there is left out";
  }));
}

}  // namespace
}  // namespace hlosim
