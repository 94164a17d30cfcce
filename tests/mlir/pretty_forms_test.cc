// Pretty forms and what they are in generic form.
#include "mlir/mlir_texts.h"

namespace hlosim::mlir {
namespace {

/// What the forms below are about: %a to %u.
constexpr const char* kArguments =
    "%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %s: tensor<f32>, %i: tensor<i32>, %p: tensor<4x8xi1>, "
    "%t: tuple<tensor<f32>, tensor<i32>>, %c: tensor<4x8xcomplex<f32>>, %n: tensor<2xi32>, "
    "%k: !stablehlo.token, %u: tensor<2xui64>";

struct Form {
  const char* pretty;
  const char* generic;  // arguments are %arg0, …
};

const Form kForms[] = {
    {R"(stablehlo.add %a, %b : tensor<4x8xf32>)",
     R"(%0 = "stablehlo.add"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.add %a, %b {x = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)",
     R"(%0 = "stablehlo.add"(%arg0, %arg1) <{x = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>)",
     R"(%0 = "stablehlo.compare"(%arg0, %arg1) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>)"},
    {R"(stablehlo.select %p, %a, %b : tensor<4x8xi1>, tensor<4x8xf32>)",
     R"(%0 = "stablehlo.select"(%arg4, %arg0, %arg1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.complex %a, %b : tensor<4x8xcomplex<f32>>)",
     R"(%0 = "stablehlo.complex"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>)"},
    {R"(stablehlo.reduce_precision %a, format = e5m10 : tensor<4x8xf32>)",
     R"(%0 = "stablehlo.reduce_precision"(%arg0) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.constant dense<[1, -1]> : tensor<2xi4>)",
     R"(%0 = "stablehlo.constant"() <{value = dense<[1, -1]> : tensor<2xi4>}> : () -> tensor<2xi4>)"},
    {R"(stablehlo.constant {x} dense<0x7FC00000> : tensor<f32>)",
     R"(%0 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>, x}> : () -> tensor<f32>)"},
    {R"(stablehlo.iota dim = 1 : tensor<4x8xi32>)",
     R"(%0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x8xi32>)"},
    {R"(stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>)",
     R"(%0 = "stablehlo.dynamic_iota"(%arg7) <{iota_dimension = 1 : i64}> : (tensor<2xi32>) -> tensor<?x?xi32>)"},
    {R"(stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x8xf32>)",
     R"(%0 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.broadcast %s, sizes = [4, 8] : (tensor<f32>) -> tensor<4x8xf32>)",
     R"(%0 = "stablehlo.broadcast"(%arg2) <{broadcast_sizes = array<i64: 4, 8>}> : (tensor<f32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>)",
     R"(%0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>)"},
    {R"(stablehlo.reverse %a, dims = [0] : tensor<4x8xf32>)",
     R"(%0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>)",
     R"(%0 = "stablehlo.concatenate"(%arg0, %arg1) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>)"},
    {R"(stablehlo.slice %a [1:2, 0:8:2] : (tensor<4x8xf32>) -> tensor<1x4xf32>)",
     R"(%0 = "stablehlo.slice"(%arg0) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 8>, strides = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<1x4xf32>)"},
    {R"(stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>)",
     R"(%0 = "stablehlo.dynamic_slice"(%arg0, %arg3, %arg3) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>)"},
    {R"(stablehlo.pad %a, %s, low = [-1, 0], high = [0, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x17xf32>)",
     R"(%0 = "stablehlo.pad"(%arg0, %arg2) <{edge_padding_low = array<i64: -1, 0>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 1>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x17xf32>)"},
    {R"(stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], precision = [DEFAULT, HIGHEST] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>)",
     R"(%0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>)"},
    {R"(stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, lhs_component_count = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>)",
     R"(%0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, lhs_component_count = 1, allow_imprecise_accumulation = false>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>)"},
    {R"(stablehlo.convolution(%a, %b) dim_numbers = [b, f, ?]x[i, o]->[f, b], window = {stride = [2], pad = [[1, 2]], reverse = [true]} {batch_group_count = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)", R"(%0 = "stablehlo.convolution"(%arg0, %arg1) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 1, input_spatial_dimensions = [], kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [], output_batch_dimension = 1, output_feature_dimension = 0, output_spatial_dimensions = []>, window_strides = array<i64: 2>, padding = dense<[[1, 2]]> : tensor<1x2xi64>, window_reversal = array<i1: true>, batch_group_count = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>)",
     R"(%0 = "stablehlo.reduce"(%arg0, %arg2) <{dimensions = array<i64: 0, 1>}> ({
^bb1(%arg10: tensor<f32>, %arg11: tensor<f32>):
  %1 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>)"},
    {R"(stablehlo.fft %c, type = IFFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>)",
     R"(%0 = "stablehlo.fft"(%arg6) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 8>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>)"},
    {R"(stablehlo.rng %s, %s, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<4x8xf32>)",
     R"(%0 = "stablehlo.rng"(%arg2, %arg2, %arg7) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.rng_bit_generator %u, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>))",
     R"(%0:2 = "stablehlo.rng_bit_generator"(%arg9) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>))"},
    {R"(stablehlo.cholesky %a : tensor<4x8xf32>)",
     R"(%0 = "stablehlo.cholesky"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.cholesky %a, lower = true : tensor<4x8xf32>)",
     R"(%0 = "stablehlo.cholesky"(%arg0) <{lower = true}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>)",
     R"(%0 = "stablehlo.get_tuple_element"(%arg5) <{index = 1 : i32}> : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>)"},
    {R"(stablehlo.tuple %s, %i : tuple<tensor<f32>, tensor<i32>>)",
     R"(%0 = "stablehlo.tuple"(%arg2, %arg3) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>)"},
    {R"(stablehlo.set_dimension_size %a, %i, dim = 1 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 8>>)",
     R"(%0 = "stablehlo.set_dimension_size"(%arg0, %arg3) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 8>>)"},
    {R"(stablehlo.einsum %a, %b, config = "ij,kj->ik" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>)",
     R"(%0 = "stablehlo.einsum"(%arg0, %arg1) <{einsum_config = "ij,kj->ik"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>)"},
    {R"(stablehlo.torch_index_select %a, %n, dim = 0, batch_dims = 0 : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>)",
     R"(%0 = "stablehlo.torch_index_select"(%arg0, %arg7) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>)"},
    {R"(stablehlo.custom_call @"x y"(%a) {api_version = 1 : i32} : (tensor<4x8xf32>) -> ())",
     R"("stablehlo.custom_call"(%arg0) <{call_target_name = "x y", api_version = 1 : i32}> : (tensor<4x8xf32>) -> ())"},
    {R"(stablehlo.composite "a.b" %a {decomposition = @f} : (tensor<4x8xf32>) -> tensor<f32>)",
     R"(%0 = "stablehlo.composite"(%arg0) <{name = "a.b", decomposition = @f}> : (tensor<4x8xf32>) -> tensor<f32>)"},
    {R"(stablehlo.optimization_barrier {x = 1.0 : f32} %a, %i : tensor<4x8xf32>, tensor<i32>)",
     R"(%0:2 = "stablehlo.optimization_barrier"(%arg0, %arg3) <{x = 1.0 : f32}> : (tensor<4x8xf32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<i32>))"},
    {R"(stablehlo.optimization_barrier ())", R"("stablehlo.optimization_barrier"() : () -> ())"},
    {R"(stablehlo.after_all %k, %k : !stablehlo.token)",
     R"(%0 = "stablehlo.after_all"(%arg8, %arg8) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token)"},
    {R"(stablehlo.create_token : !stablehlo.token)",
     R"(%0 = "stablehlo.create_token"() : () -> !stablehlo.token)"},
    {R"(stablehlo.partition_id : tensor<ui32>)", R"(%0 = "stablehlo.partition_id"() : () -> tensor<ui32>)"},
    {R"(chlo.top_k(%a, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>))",
     R"(%0:2 = "chlo.top_k"(%arg0) <{k = 3 : i64}> : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>))"},
    {R"(chlo.next_after %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>)",
     R"(%0 = "chlo.next_after"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(call @f(%a) : (tensor<4x8xf32>) -> ())",
     R"("func.call"(%arg0) <{callee = @f}> : (tensor<4x8xf32>) -> ())"},
    {R"(check.expect_eq %a, %b : tensor<4x8xf32>)",
     R"("check.expect_eq"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> ())"},
    {R"(check.expect_eq_const %i, dense<3> : tensor<i32>)",
     R"("check.expect_eq_const"(%arg3) <{value = dense<3> : tensor<i32>}> : (tensor<i32>) -> ())"},
    {R"(check.expect_almost_eq_const %s, dense<3.0> : tensor<f32>)",
     R"("check.expect_almost_eq_const"(%arg2) <{value = dense<3.0> : tensor<f32>}> : (tensor<f32>) -> ())"},
    {R"(check.expect_close %a, %b, max_ulp_difference = 3 : tensor<4x8xf32>, tensor<4x8xf32>)",
     R"("check.expect_close"(%arg0, %arg1) <{max_ulp_difference = 3 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> ())"},
    {R"(sdy.sharding_constraint %a <@m, [{"x"}, {}]> : tensor<4x8xf32>)",
     R"(%0 = "sdy.sharding_constraint"(%arg0) <{sharding = #sdy.sharding<@m, [{"x"}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(sdy.all_gather [{"x"}, {}] %a out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>)",
     R"(%0 = "sdy.all_gather"(%arg0) <{gathering_axes = #sdy.list_of_axis_ref_lists<[{"x"}, {}]>, out_sharding = #sdy.sharding<@m, [{}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(sdy.propagation_barrier %a allowed_direction=NONE : tensor<4x8xf32>)",
     R"(%0 = "sdy.propagation_barrier"(%arg0) <{allowed_direction = #sdy<propagation_direction NONE>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>)"},
    {R"(sdy.mesh @m = <["x"=2]>)",
     R"("sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2]>}> : () -> ())"},
};

/// The operations of the only function, in generic form and without indentation.
std::string generic_body(const std::string& text) {
  std::string out, written = write_text(read_one(text));
  size_t line = 0;
  for (size_t at = 0; at < written.size(); ++line) {
    const size_t end = written.find('\n', at);
    if (line > 2 && written.compare(at, 4, "    ") == 0) out += written.substr(at + 4, end - at - 3);
    at = end + 1;
  }
  return out.substr(0, out.size() - 1);
}

TEST(PrettyForm, IsItsGenericForm) {
  for (const Form& form : kForms) {
    const std::string text = std::string("func.func @t(") + kArguments + ") {\n" + form.pretty + "\n}";
    EXPECT_EQ(generic_body(text), form.generic) << form.pretty;
  }
}

const Operation& first(const File& file) { return *file.top->regions[0].blocks[0]->operations[0]; }

/// The operations in the body of the first function.
std::span<const Operation* const> body(const File& file) {
  return first(file).regions[0].blocks[0]->operations;
}

TEST(PrettyForm, PairsOfReducersBecomeCurrentThenNew) {
  const File file =
      read_one(R"(func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>, %c: tensor<f32>, %d: tensor<i32>) {
    %0:2 = stablehlo.reduce(%x init: %c), (%y init: %d) across dimensions = [0] {k} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
      reducer(%a: tensor<f32> loc("a"), %b: tensor<f32>) (%e: tensor<i32>, %g: tensor<i32>) {
        stablehlo.return %b, %g : tensor<f32>, tensor<i32>
      } loc("r")
  })");
  const Operation& reduce = *body(file)[0];
  EXPECT_EQ(reduce.operands[1]->name, "y");
  EXPECT_EQ(reduce.operands[2]->name, "c");
  EXPECT_EQ(reduce.location->text, "r");
  const Block& block = *reduce.regions[0].blocks[0];
  ASSERT_EQ(block.arguments.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(block.arguments[i]->name, std::string("aebg").substr(i, 1));
  EXPECT_EQ(block.arguments[0]->location->text, "a");
  EXPECT_EQ(block.operations[0]->operands[0], block.arguments[2]);
  EXPECT_EQ(block.operations[0]->operands[1], block.arguments[3]);
}

TEST(PrettyForm, BothRegionsOfAWhileHaveArgumentsOfTheirOwn) {
  const File file = read_one(R"(func.func @f(%x: tensor<i32>, %p: tensor<i1>) {
    %0:2 = stablehlo.while(%a = %x, %b = %p) : tensor<i32>, tensor<i1> attributes {k = 1 : i32}
     cond { stablehlo.return %b : tensor<i1> } do { stablehlo.return %a, %p : tensor<i32>, tensor<i1> }
    return
  })");
  const Operation& loop = *body(file)[0];
  ASSERT_EQ(loop.regions.size(), 2u);
  EXPECT_EQ(loop.find("k")->integer, 1);
  const Block &condition = *loop.regions[0].blocks[0], &turn = *loop.regions[1].blocks[0];
  EXPECT_NE(condition.arguments[0], turn.arguments[0]);
  EXPECT_EQ(condition.operations[0]->operands[0], condition.arguments[1]);
  EXPECT_EQ(turn.operations[0]->operands[0], turn.arguments[0]);
  EXPECT_EQ(turn.operations[0]->operands[1], first(file).regions[0].blocks[0]->arguments[1]);
}

TEST(PrettyForm, ScanKeepsItsArgumentsAndSaysItsSegments) {
  const File file = read_one(R"(func.func @f(%x: tensor<4xf32>, %c: tensor<f32>) {
    %0:2 = chlo.scan(%x) inits (%c) dimension = 0 attributes {is_reverse = true} {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      return %a, %b : tensor<f32>, tensor<f32>
    } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  })");
  const Operation& scan = *body(file)[0];
  EXPECT_EQ(to_text(*scan.find("operandSegmentSizes")), "array<i32: 1, 1>");
  EXPECT_EQ(to_text(*scan.find("resultSegmentSizes")), "array<i32: 1, 1>");
  EXPECT_EQ(scan.regions[0].blocks[0]->operations[0]->name, "stablehlo.return");
}

TEST(PrettyForm, FunctionsHaveTheAttributesOfTheirGenericForm) {
  const File file = read_one(
      R"(func.func private @f(%a: tensor<4xf32> {k = 1 : i32} loc("x"), %b: i32) -> (i32, tensor<4xf32> {r}) attributes {z} {
    return %b, %a : i32, tensor<4xf32>
  })");
  const Operation& function = first(file);
  EXPECT_EQ(function.name, "func.func");
  EXPECT_EQ(function.find("sym_name")->text, "f");
  EXPECT_EQ(function.find("sym_visibility")->text, "private");
  EXPECT_EQ(to_text(*function.find("function_type")), "(tensor<4xf32>, i32) -> (i32, tensor<4xf32>)");
  EXPECT_EQ(to_text(*function.find("arg_attrs")), "[{k = 1 : i32}, {}]");
  EXPECT_EQ(to_text(*function.find("res_attrs")), "[{}, {r}]");
  EXPECT_NE(function.find("z"), nullptr);
  EXPECT_EQ(function.regions[0].blocks[0]->arguments[0]->location->text, "x");
}

TEST(PrettyForm, ManualComputationsKeepTheirShardingsAsText) {
  const File file = read_one(R"(func.func @f(%a: tensor<8xf32>) {
    %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
      return %b : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
  })");
  const Operation& manual = *body(file)[0];
  EXPECT_EQ(manual.find("in_shardings")->kind, AttributeKind::kSharding);
  EXPECT_EQ(manual.find("in_shardings")->name, "sdy.sharding_per_value");
  EXPECT_EQ(manual.find("in_shardings")->text, R"(<[<@m, [{"x"}]>]>)");
  EXPECT_EQ(manual.find("manual_axes")->text, R"(<{"x"}>)");
  EXPECT_EQ(manual.regions[0].blocks[0]->operations[0]->name, "sdy.return");
}

}  // namespace
}  // namespace hlosim::mlir
