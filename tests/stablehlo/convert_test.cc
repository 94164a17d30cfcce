#include "stablehlo/convert.h"

#include <gtest/gtest.h>

#include "hlo/printer.h"
#include "hlo/verifier.h"
#include "mlir/stable_operations.h"
#include "ops/op_table.h"
#include "stablehlo/op_lowering.h"
#include "stablehlo/read_stablehlo.h"
#include "support/modules.h"

namespace hlosim::stablehlo {
namespace {

/// The module as HLO text without names that matter: `opcode(operands)` lines of the entry.
std::vector<Module> converted(std::string_view text, const ConvertOptions& options = {}) {
  DiagnosticList findings;
  std::vector<Module> modules = stablehlo::read_modules(test::source_of(text), op_table(), findings, options);
  for (Module& module : modules) verify(module, op_table(), findings);
  for (const Diagnostic& finding : findings.items()) ADD_FAILURE() << render(finding);
  return modules;
}

std::string root_of(std::string_view text, const ConvertOptions& options = {}) {
  const std::vector<Module> modules = converted(text, options);
  if (modules.size() != 1) return "no module";
  return to_text(modules[0], modules[0].root(modules[0].entry), op_table());
}

TEST(Convert, OperationsOfArtifactsHaveARow) {
  size_t rows = 0;
  for (const mlir::StableOperation& operation : mlir::stable_operations()) {
    if (!operation.name.starts_with("stablehlo.") || operation.newest == 0) continue;
    // Of VHLO alone: no version of StableHLO's text has them.
    if (operation.name == "stablehlo.collective_reduce" || operation.name == "stablehlo.cross-replica-sum")
      continue;
    const RowOfOperation* const row = find_row(operation.name);
    ASSERT_NE(row, nullptr) << operation.name;
    EXPECT_EQ(row->opcode, operation.opcode.value_or(Opcode::kConstant)) << operation.name;
    ++rows;
  }
  EXPECT_GT(rows, 100u);
  EXPECT_EQ(find_row("chlo.broadcast_add")->opcode, Opcode::kAdd);
}

TEST(Convert, EntriesAreMainOrWhatNobodyCalls) {
  const std::vector<Module> alone = converted(R"(module @m {
  func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
  func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
})");
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].name, "m");
  const std::vector<Module> several = converted(R"(
func.func @a(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @b(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @b(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @c() { return })");
  ASSERT_EQ(several.size(), 2U);
  EXPECT_EQ(several[0].name, "a");
  EXPECT_EQ(several[1].name, "c");
}

TEST(Convert, FunctionsAreSharedByTheirCalls) {
  const std::vector<Module> modules = converted(R"(
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @f(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
})");
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].computations.size(), 2U);
}

TEST(Convert, LargeSplatsAreBroadcastScalars) {
  EXPECT_EQ(root_of(R"(func.func @main() -> tensor<31xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<31xf32> return %0 : tensor<31xf32> })")
                .substr(0, 40),
            "%constant.1 = f32[31]{0} constant({1, 1,");
  EXPECT_EQ(root_of(R"(func.func @main() -> tensor<32xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<32xf32> return %0 : tensor<32xf32> })"),
            "%broadcast.1 = f32[32]{0} broadcast(%constant.1), dimensions={}");
}

TEST(Convert, AttributesOfCompositesKeepTheFormOfTheirTensors) {
  const std::string call = root_of(R"(
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {s = dense<1> : tensor<i32>,
    m = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, r = dense<[0.5, 2.0]> : tensor<2xf32>}, decomposition = @f}
    : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
})");
  EXPECT_NE(call.find("s = dense<1> : tensor<i32>"), std::string::npos) << call;
  EXPECT_NE(call.find("m = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>"), std::string::npos) << call;
  EXPECT_NE(call.find("r = dense<[0.5, 2.0]> : tensor<2xf32>"), std::string::npos) << call;
}

TEST(Convert, DynamicDimensionsTakeTheSizesGiven) {
  constexpr std::string_view kText = R"(func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
})";
  ConvertOptions options;
  options.dimensions = {{"", 2}, {"", 3}};
  EXPECT_EQ(root_of(kText, options).substr(0, 27), "%transpose.1 = f32[3,2]{0,1");
  options.dimensions = {{"batch", 4}};
  EXPECT_EQ(root_of(kText, options).substr(0, 25), "%transpose.1 = f32[4,4]{0");
  options.dimensions = {{"arg0.1", 5}, {"rest", 6}};
  EXPECT_EQ(root_of(kText, options).substr(0, 25), "%transpose.1 = f32[5,6]{0");
}

TEST(Convert, LocationsBecomeMetadata) {
  EXPECT_EQ(
      root_of(R"(func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32> loc("jit(f)/abs"(callsite("g"("inner.py":3:1) at "outer.py":9:1)))
  return %0 : tensor<f32> })"),
      R"(%abs.1 = f32[] abs(%Arg_0.1), metadata={op_name="jit(f)/abs" source_file="inner.py" source_line=3})");
}

TEST(Convert, InstructionsPointToTheirOperations) {
  const std::vector<Module> modules = converted(
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = stablehlo.abs %x : tensor<f32>\n"
      "  return %0 : tensor<f32>\n}");
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].source->locate(modules[0].root(modules[0].entry).offset).line, 2);
}

}  // namespace
}  // namespace hlosim::stablehlo
