// Broken texts, each with all that is said of it: the place, the message, the hint.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mlir/read_text.h"

namespace hlosim::mlir {
namespace {

struct Broken {
  const char* text;
  const char* message;  // LINE:COLUMN: message[ | hint]
};

const Broken kBroken[] = {
    {"func.func @f() { \"a.b", "1:18: this string has no end on its line"},
    {"func.func @f() { \"a.b\"() {s = \"\\q\"} : () -> () }",
     "1:32: this is not an escape of a string | there are \\\" \\\\ \\n \\t and two hexadecimal digits"},
    {"func.func @f() { \"a.b\"() {n = 99999999999999999999} : () -> () }",
     "1:31: expects a number of at most 64 bits"},
    {"func.func @f() {\n"
     "  \x01\n"
     "}",
     "2:3: expects an operation, but sees '\\x01'"},
    {"func.func @f() { % = \"a.b\"() : () -> i32 }",
     "1:20: expects the name of a value behind '%', but sees '='"},
    {"func.func @f() {\n", "2:1: expects an operation or '}', but sees the end of the text"},
    {"module @m { func.func @f() { return } ",
     "1:39: expects an operation or '}', but sees the end of the text"},
    {"modul @m {}", "1:1: expects an operation, but sees 'modul'"},
    {"func.func f() { return }", "1:11: expects a symbol, as in @main, but sees 'f'"},
    {"func.func @f(%a tensor<f32>) { return }",
     "1:17: expects ':' and the type of the argument, but sees 'tensor'"},
    {"func.func @f(tensor<f32>) { return }",
     "1:14: expects the name of an argument, as in %arg0, of a function with a body"},
    {"func.func @f() { return } }", "1:27: expects an operation, but sees '}'"},
    {"func.func @f() { %0 = arith.addf %a, %b : f32 }",
     "1:23: arith.addf is read in generic form only | as in \"arith.addf\"(%0) : (…) -> …; programs are of "
     "stablehlo, mhlo, chlo, sdy and func"},
    {"func.func @f(%a: tensor<f32>) {\n"
     "  check.expect_close %a, %a, min_ulp_difference = 3, min_ulp_difference = 0 : tensor<f32>, "
     "tensor<f32>\n"
     "}",
     "2:3: 'min_ulp_difference' is given twice"},
    {"func.func @f() { \"a.b\"() }", "1:26: expects ':' before the types, but sees '}'"},
    {"func.func @f() { \"a.b\"() : () }",
     "1:31: expects '->' behind the types of the operands, but sees '}'"},
    {"func.func @f() { %0 = \"a.b\"() : () -> () }", "1:18: names 1 results of a.b, which has 0"},
    {"func.func @f() { %0:2 = \"a.b\"() : () -> i32 }", "1:18: names 2 results of a.b, which has 1"},
    {"func.func @f(%a: i32) {\n"
     "  %a = \"a.b\"() : () -> i32\n"
     "}",
     "2:3: %a is defined twice | a name can be defined once in its region"},
    {"func.func @f() {\n"
     "  \"a.b\"(%x) : (i32) -> ()\n"
     "}",
     "2:9: %x isn't defined"},
    {"func.func @f() {\n"
     "  \"a.b\"() ({\n"
     "    %x = \"a.c\"() : () -> i32\n"
     "  }) : () -> ()\n"
     "  \"a.d\"(%x) : (i32) -> ()\n"
     "}",
     "5:9: %x isn't defined | it is defined in a region that ended before"},
    {"func.func @f(%a: tensor<4xf32>) {\n"
     "  %0 = stablehlo.abs %a : tensor<8xf32>\n"
     "}",
     "2:22: %a is defined as tensor<4xf32>, but used as tensor<8xf32>"},
    {"func.func @f() {\n"
     "  %0:2 = \"a.b\"() : () -> (i32, i32)\n"
     "  \"a.c\"(%0) : (i32) -> ()\n"
     "}",
     "3:9: %0 has 2 results: name one, as in %0#0"},
    {"func.func @f() {\n"
     "  %0:2 = \"a.b\"() : () -> (i32, i32)\n"
     "  \"a.c\"(%0#2) : (i32) -> ()\n"
     "}",
     "3:9: %0 has 2 results; there is no #2"},
    {"func.func @f(%a: i32) {\n"
     "  \"a.c\"(%a) : (i32, i32) -> ()\n"
     "}",
     "2:3: expects 1 type of operands, but sees 2"},
    {"func.func @f(%a: tensor<4yf32>) { return }", "1:26: expects 'x' behind a dimension, but sees 'yf32'"},
    {"func.func @f(%a: tensor<4xfloat>) { return }", "1:27: expects a type, but sees 'float'"},
    {"func.func @f(%a: tensor<99999999999999999999xf32>) { return }", "1:25: this dimension is too large"},
    {"func.func @f(%a: tensor<4xf32) { return }", "1:30: expects '>' at the end of a tensor, but sees ')'"},
    {"func.func @f(%a: !t) { return }", "1:18: !t isn't defined"},
    {"\"a.b\"() {k = 1, k = 2} : () -> ()", "1:9: 'k' is given twice"},
    {"\"a.b\"() {k = } : () -> ()", "1:14: expects an attribute, but sees '}'"},
    {"\"a.b\"() {k = #x} : () -> ()", "1:14: #x isn't defined"},
    {"#a = [#b]\n"
     "#b = [#a]\n"
     "\"a.b\"() {k = #a} : () -> ()",
     "1:6: #a is defined by itself"},
    {"#a = 1\n"
     "#a = 2\n",
     "2:1: #a is defined twice"},
    {"\"a.b\"() {k = #d.x<(1]>} : () -> ()", "1:21: ']' closes nothing here"},
    {"\"a.b\"() {k = dense<[1, 2, 3]> : tensor<2xi32>} : () -> ()",
     "1:27: expects 2 elements in dimension 0 of tensor<2xi32>, but sees more"},
    {"\"a.b\"() {k = dense<[1]> : tensor<2xi32>} : () -> ()",
     "1:22: expects 2 elements in dimension 0 of tensor<2xi32>, but sees 1"},
    {"\"a.b\"() {k = dense<[[1, 2], [3]]> : tensor<2x2xi32>} : () -> ()",
     "1:31: expects 2 elements in dimension 1 of tensor<2x2xi32>, but sees 1"},
    {"\"a.b\"() {k = dense<300> : tensor<i8>} : () -> ()", "1:20: 300 doesn't fit into i8"},
    {"\"a.b\"() {k = dense<1.5> : tensor<i8>} : () -> ()", "1:20: expects an integer, but sees a decimal"},
    {"\"a.b\"() {k = dense<\"0x0102\"> : tensor<3xi8>} : () -> ()",
     "1:20: 2 bytes aren't the 3 elements of tensor<3xi8>"},
    {"\"a.b\"() {k = dense<\"0x010\"> : tensor<2xi8>} : () -> ()",
     "1:20: expects pairs of hexadecimal digits"},
    {"\"a.b\"() {k = dense<0> : tensor<?xi8>} : () -> ()",
     "1:20: dense elements need a shape without dynamic dimensions"},
    {"\"a.b\"() {k = dense<0 : tensor<2xi8>",
     "1:36: expects ':' and the type of dense elements, but sees the end of the text"},
    {"\"a.b\"() : () -> () loc(\"x\":1)", "1:29: expects ':' behind the line, but sees ')'"},
    {"\"a.b\"() {k = dense_resource<r> : tensor<2xi8>} : () -> ()\n"
     "{-# dialect_resources: { builtin: { r: \"0x0102\" } } #-}",
     "1:14: resource r has no alignment in its bytes"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.transpose %a, dim = [0] : (tensor<4xf32>) -> "
     "tensor<4xf32> }",
     "1:64: expects 'dims =', but sees 'dim'"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.compare %a, %a : (tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<4xi1> }",
     "1:58: expects a word for comparison_direction, but sees '%a'"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.select %a, %a, %a : tensor<4xf32> }",
     "1:40: expects 2 types of operands and results, but sees 1"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.reduce(%a init: %a) across dimensions = [0] : "
     "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32> }",
     "1:142: expects 'reducer' and its arguments, but sees '}'"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.reduce_precision %a, format = m10e5 : tensor<4xf32> }",
     "1:80: expects a format as in e5m10, but sees 'm10e5'"},
    {"func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 1, f]x[0, i, "
     "o]->[b, 0, f] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> }",
     "1:84: expects the numbers 0 to 0 once each"},
    {"func.func @f(%a: tensor<4xf32>) { stablehlo.while(%b = %a) : tensor<4xf32> do { } }",
     "1:76: expects 'cond' and the condition, but sees 'do'"},
};

TEST(BrokenMlirText, EachSaysWhatIsWrongWhere) {
  for (const Broken& broken : kBroken) {
    const auto source = std::make_shared<SourceFile>("broken.mlir", broken.text);
    DiagnosticList findings;
    EXPECT_TRUE(read_text(source, findings).empty()) << broken.text;
    ASSERT_EQ(findings.items().size(), 1u) << broken.text;
    const Diagnostic& finding = findings.items()[0];
    const LineColumn place = source->locate(finding.offset);
    EXPECT_EQ(fmt::format("{}:{}: {}{}{}", place.line, place.column, finding.message,
                          finding.hint.empty() ? "" : " | ", finding.hint),
              broken.message)
        << broken.text;
    EXPECT_EQ(finding.source, source);
  }
}

}  // namespace
}  // namespace hlosim::mlir
