// What is printed as StableHLO is read as a module that prints the same.
#include "stablehlo_text/write_stablehlo.h"

#include <gtest/gtest.h>

#include "hlo/printer.h"
#include "input/load_modules.h"
#include "mlir/read_text.h"
#include "ops/op_table.h"
#include "support/folders.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

std::vector<Module> read(const std::string& name, const std::string& text) {
  DiagnosticList findings;
  std::vector<Module> modules =
      load_modules(std::make_shared<const SourceFile>(name, text), op_table(), findings);
  for (const Diagnostic& finding : findings.items())
    if (finding.severity == Severity::kError) ADD_FAILURE() << render(finding) << text;
  return modules;
}

TEST(StablehloText, ReadAgainPrintsTheSame) {
  size_t printed = 0;
  for (const std::filesystem::path& file : test::own_modules()) {
    for (const Module& module : read(file.string(), test::file_text(file))) {
      const Result<std::string> text = to_stablehlo(module);
      if (!text) continue;
      ++printed;
      EXPECT_TRUE(mlir::is_mlir_text(*text));
      const std::vector<Module> again = read("printed.mlir", *text);
      ASSERT_EQ(again.size(), 1u) << file;
      const Result<std::string> twice = to_stablehlo(again[0]);
      ASSERT_TRUE(twice.has_value()) << file;
      EXPECT_EQ(*twice, *text) << file;
    }
  }
  EXPECT_GE(printed, 6u);
}

TEST(StablehloText, WhatHasNoFormNamesItsInstruction) {
  const std::vector<Module> modules = read("m.hlo", R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT twice = f32[4] copy(x)
})");
  ASSERT_EQ(modules.size(), 1u);
  const Result<std::string> text = to_stablehlo(modules[0]);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().message, "twice: StableHLO has no form of copy");
  EXPECT_EQ(text.error().source->locate(text.error().offset).line, 4);
}

/// Of the entry of a module in HLO, written; else why there is none.
std::string written(const std::string& hlo) {
  const std::vector<Module> modules = read("m.hlo", hlo);
  if (modules.size() != 1) return "";
  const Result<std::string> text = to_stablehlo(modules[0]);
  return text ? *text : text.error().message;
}

TEST(StablehloText, WhatMeansSomethingElseThereIsRefused) {
  EXPECT_EQ(
      written("ENTRY main {\n  p = s32[10] parameter(0)\n  ROOT out = pred[10,4] bitcast-convert(p)\n}"),
      "out: StableHLO has no form of truth values as bytes");
  EXPECT_EQ(written(R"(ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT both = (f32[4], f32[4]) collective-permute(a, b), source_target_pairs={{0,0}}
})"),
            "both: StableHLO has no form of a permutation of several arrays");
  EXPECT_EQ(written("ENTRY main {\n  a = f32[4] parameter(0)\n  ROOT pinned = b(f32[4]) custom-call(a), "
                    "custom_call_target=\"Pin\", output_to_operand_aliasing={{}: (0, {})}\n}"),
            "pinned: StableHLO has no type of its shape");
  EXPECT_EQ(
      written("ENTRY main {\n  a = f32[4] parameter(0)\n  ROOT g = f32[8] all-gather(a), dimensions={0}, "
              "channel_id=0, replica_groups={{0,1}}, use_global_device_ids=true\n}"),
      "g: StableHLO has no form of channel_id=0, which means none there");
}

/// The same module, printed without metadata, comes back.
TEST(StablehloText, StringsScalarsAndTuplesOfOneComeBack) {
  const char* const kModules[] = {
      R"(HloModule m

ENTRY %main.1 (Arg_0.1: f32[]) -> (f32[]) {
  %Arg_0.1 = f32[] parameter(0)
  %custom-call.1 = f32[] custom-call(%Arg_0.1), custom_call_target="f", backend_config="a\"b\\n\ttab\001", frontend_attributes={k="line\nline"}
  ROOT %tuple.1 = (f32[]) tuple(%custom-call.1)
}
)",
      R"(HloModule m

%region.1 (Arg_0.2: f32[], Arg_1.2: f32[]) -> f32[] {
  %Arg_0.2 = f32[] parameter(0)
  %Arg_1.2 = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%Arg_0.2, %Arg_1.2)
}

ENTRY %main.1 (Arg_0.1: f32[], Arg_1.1: f32[]) -> f32[] {
  %Arg_0.1 = f32[] parameter(0)
  %Arg_1.1 = f32[] parameter(1)
  ROOT %reduce-window.1 = f32[] reduce-window(%Arg_0.1, %Arg_1.1), to_apply=%region.1
}
)"};
  for (const char* module : kModules) {
    const std::vector<Module> again = read("printed.mlir", written(module));
    ASSERT_EQ(again.size(), 1u) << written(module);
    EXPECT_EQ(to_text(again[0], op_table()), module);
  }
}

TEST(StablehloText, TuplesArePartsUntilOneIsNeeded) {
  const std::vector<Module> modules = read("m.hlo", R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  p = (f32[4], s32[]) parameter(1)
  i = s32[] get-tuple-element(p), index=1
  inner = (f32[4], s32[]) tuple(x, i)
  ROOT out = ((f32[4], s32[]), f32[4]) tuple(inner, x)
})");
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(*to_stablehlo(modules[0]),
            R"(module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tuple<tensor<4xf32>, tensor<i32>>) -> (tuple<tensor<4xf32>, tensor<i32>>, tensor<4xf32>) {
    %0 = "stablehlo.get_tuple_element"(%arg1) <{index = 1 : i32}> : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    %1 = "stablehlo.tuple"(%arg0, %0) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
    return %1, %arg0 : tuple<tensor<4xf32>, tensor<i32>>, tensor<4xf32>
  }
}
)");
}

}  // namespace
}  // namespace hlosim
