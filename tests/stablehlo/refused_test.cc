// What is wrong with programs that are read and can't be converted, and where.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hlo/verifier.h"
#include "ops/op_table.h"
#include "stablehlo/read_stablehlo.h"
#include "support/modules.h"

namespace hlosim::stablehlo {
namespace {

/// `line: message` of each error.
std::string errors_of(std::string_view text) {
  DiagnosticList findings;
  const SourcePtr source = test::source_of(text);
  std::vector<Module> modules = stablehlo::read_modules(source, op_table(), findings);
  for (Module& module : modules) verify(module, op_table(), findings);
  std::string errors;
  for (const Diagnostic& finding : findings.items())
    errors += fmt::format("{}{}: {}", errors.empty() ? "" : "\n", source->locate(finding.offset).line,
                          finding.message);
  return errors;
}

/// A function of `arguments` whose body is `body`.
std::string in_main(std::string_view arguments, std::string_view body) {
  return fmt::format("func.func @main({}) {{\n  {}\n  return\n}}\n", arguments, body);
}

struct Broken {
  const char* arguments;
  const char* body;  // on line 2
  const char* error;
};

constexpr const char* kTwo = "%x: tensor<2xf32>, %y: tensor<3xf32>";
constexpr Broken kBroken[] = {
    {kTwo, R"(%0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>)", ""},
    {kTwo, R"(%0 = "stablehlo.add"(%x) : (tensor<2xf32>) -> tensor<2xf32>)",
     "2: stablehlo.add: expects 2 operands, but has 1"},
    {kTwo, R"(%0 = "stablehlo.negate"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)",
     "2: stablehlo.negate: expects 1 operand, but has 2"},
    {kTwo, R"(%0 = "stablehlo.compare"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>)",
     "2: stablehlo.compare: needs the attribute \"comparison_direction\""},
    {kTwo,
     R"(%0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>) -> tensor<2x2xf32>)",
     "2: stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 2, but the result has 2"},
    {kTwo, "%0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2xf32>) -> tensor<3x2xf32>",
     "2: stablehlo.broadcast_in_dim: dimension 0 of the operand has size 2, dimension 0 of the result 3"},
    {kTwo, "%0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2xf32>) -> tensor<3x2xf32>",
     "2: stablehlo.broadcast_in_dim: broadcast_dimensions has 2 elements, expected 1: one for each dimension "
     "of "
     "the operand"},
    {kTwo, R"(%0 = "stablehlo.bogus"(%x) : (tensor<2xf32>) -> tensor<2xf32>)",
     "2: 'stablehlo.bogus' is not an operation of the dialect stablehlo that is known here"},
    {kTwo, R"(%0 = "tosa.add"(%x) : (tensor<2xf32>) -> tensor<2xf32>)",
     "2: 'tosa.add' is of the dialect tosa, expected stablehlo, mhlo, chlo, check, sdy or func"},
    {"%x: tensor<?xf32>", "",
     "1: argument 0: dimension 0 of tensor<?xf32> is dynamic, expected a static size"},
    {"%x: tensor<*xf32>", "", "1: argument 0: tensor<*xf32> has no rank: unranked tensors are not supported"},
    {"%x: tensor<2xindex>", "", "1: argument 0: tensor<2xindex> has no HLO type for its elements"},
    {"%x: tensor<2x!quant.uniform<i8:f32, 0.5>>", "",
     "1: argument 0: !quant.uniform<i8:f32, 0.5> is a quantized type: quantized programs are not supported"},
    {kTwo,
     R"(%0 = "stablehlo.uniform_quantize"(%x) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>)",
     "2: stablehlo.uniform_quantize: quantized programs are not supported"},
    {kTwo, "func.call @none(%x) : (tensor<2xf32>) -> ()", "2: func.call: there is no function @none"},
    {kTwo, "func.call @main(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> ()",
     "2: @main calls itself: recursion is not supported"},
    {"%x: tensor<4xf32>, %n: tensor<1xi32>",
     "%0 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>",
     "2: stablehlo.dynamic_reshape: operand 1 isn't constant: a program whose shapes are dynamic, and depend "
     "on "
     "values, is not supported"},
    {"%x: tensor<i32>", "%0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<i32>) -> tensor<i32>",
     "2: stablehlo.get_dimension_size: dimension 0 of s32[], which has no such dimension"},
    {kTwo, R"(%0 = "stablehlo.custom_call"(%x) : (tensor<2xf32>) -> tensor<2xf32>)",
     "2: stablehlo.custom_call: needs the attribute \"call_target_name\""},
    {kTwo, "%0 = stablehlo.custom_call @f(%x) {api_version = 9 : i32} : (tensor<2xf32>) -> tensor<2xf32>",
     "2: stablehlo.custom_call: api_version 9 is none of 0 to 4"},
    {kTwo, R"(%0 = stablehlo.abs %x {mhlo.sharding = "{nonsense"} : tensor<2xf32>)",
     "2: \"{nonsense\" is not a sharding, expected HLO's text or its protocol buffer"},
    {kTwo,
     R"(%0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@none, [{}]>]>} : tensor<2xf32>)",
     "2: there is no mesh @none"},
    {kTwo, R"(%0 = "stablehlo.dot"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<f32>)", ""},
    {"%x: tensor<f32>", "%0 = stablehlo.dot %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>",
     "2: stablehlo.dot: contracts f32[] with f32[], expected at least one dimension in each"},
    {kTwo,
     R"(%0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 1, 2>, strides = array<i64: 1>} : (tensor<2xf32>) -> tensor<1xf32>)",
     "2: stablehlo.slice: 1 starts, 2 limits, 1 strides, expected as many of each"},
    {kTwo, "check.expect_eq_const %x, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>", nullptr},
    {kTwo, R"("check.expect_eq"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> ())",
     "2: check.expect_eq: f32[2] is compared with f32[3], expected the same type"},
    {kTwo, R"(%0 = "stablehlo.iota"() : () -> tensor<2xf32>)",
     "2: stablehlo.iota: needs the attribute \"iota_dimension\""},
    {kTwo, R"(%0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>)",
     "2: stablehlo.all_gather: needs the attribute \"replica_groups\""},
    {kTwo, R"(%0 = "chlo.lgamma"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)",
     "2: chlo.lgamma: expects 1 operand, but has 2"},
    {"%x: tensor<2xi32>", "%0 = chlo.lgamma %x : tensor<2xi32> -> tensor<2xi32>",
     "2: chlo.lgamma: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers"},
    {"%x: tensor<2xi32> {mhlo.memory_kind = \"moon\"}", "",
     "1: mhlo.memory_kind \"moon\" is none of device, pinned_host, unpinned_host"},
    {"%x: tensor<2xi32> {mhlo.layout_mode = \"{1,0}\"}", "",
     "1: mhlo.layout_mode \"{1,0}\" is not a layout of s32[2]"},
    {kTwo, R"(%0 = "stablehlo.case"(%x) : (tensor<2xf32>) -> tensor<2xf32>)",
     "2: stablehlo.case: has no branch"},
};

TEST(Refused, SaysWhatIsWrongAtItsLine) {
  for (const Broken& broken : kBroken) {
    const std::string errors = errors_of(in_main(broken.arguments, broken.body));
    EXPECT_NE(errors, "") << broken.body;
    if (broken.error && *broken.error) {
      EXPECT_EQ(errors, broken.error) << broken.body;
    }
  }
}

/// Faults that the rules of HLO's instructions find are at the operation too.
TEST(Refused, RulesOfInstructionsSpeakOfTheLine) {
  for (const Broken& broken : kBroken)
    if (broken.error && !*broken.error) {
      EXPECT_EQ(errors_of(in_main(broken.arguments, broken.body)).substr(0, 3), "2: ") << broken.body;
    }
}

TEST(Refused, RegionsOverElementsTakeScalarsAlone) {
  EXPECT_EQ(
      errors_of(R"(func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %t = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %u = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %u : tensor<f32>
  }
  return %r : tensor<f32>
})"),
      "2: stablehlo.reduce: its region uses %x from outside, f32[4]; expected its arguments, constants and "
      "scalars");
}

TEST(Refused, RegionsOfCollectivesSeeConstantsOnly) {
  EXPECT_EQ(errors_of(R"(func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %s : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"),
            "4: %s is defined outside of the region that uses it; here a region may use its arguments and "
            "constants only");
}

TEST(Refused, FunctionsThatCallEachOther) {
  EXPECT_EQ(errors_of(R"(func.func @f() { func.call @g() : () -> () return }
func.func @g() { func.call @f() : () -> () return })"),
            "2: @f calls itself: recursion is not supported");
}

TEST(Refused, ModulesWithoutFunctions) {
  EXPECT_EQ(errors_of("module {}"), "1: no function with a body in the module");
  EXPECT_EQ(errors_of("func.func private @f(tensor<f32>)"), "1: no function with a body in the module");
}

}  // namespace
}  // namespace hlosim::stablehlo
