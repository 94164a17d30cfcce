// RUN: hlosim run --print --args=iota %s
// RUN: hlosim print %s
// Regions that run beside what follows, and regions that have a name; sums by one letter a dimension.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<3xf32>) {
  %future = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %c = stablehlo.add %a, %b : tensor<2x3xf32>
    stablehlo.return %c : tensor<2x3xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x3xf32>>
  %named = sdy.named_computation<"twice">(%x) (%a: tensor<2x3xf32>) {
    %b = stablehlo.add %a, %a : tensor<2x3xf32>
    sdy.return %b : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %done = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<2x3xf32>>) -> tensor<2x3xf32>
  %turned = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %sums = stablehlo.unary_einsum %x, config = "ab->b" : (tensor<2x3xf32>) -> tensor<3xf32>
  return %done, %named, %turned, %sums : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<3xf32>
}
// ==== 1
// CHECK: f32[2,3] { {0, 2, 4}, {3, 5, 7} }
// CHECK: f32[2,3] { {0, 2, 4}, {6, 8, 10} }
// CHECK: f32[3,2] { {0, 3}, {1, 4}, {2, 5} }
// CHECK: f32[3] {3, 5, 7}
// ==== 2
// CHECK: HloModule main
// CHECK:
// CHECK: %async_computation.1 (Arg_0.2: f32[2,3], Arg_1.2: f32[3]) -> f32[2,3]{1,0} {
// CHECK:   %Arg_0.2 = f32[2,3]{1,0} parameter(0)
// CHECK:   %Arg_1.2 = f32[3]{0} parameter(1)
// CHECK:   %broadcast.1 = f32[2,3]{1,0} broadcast(%Arg_1.2), dimensions={1}
// CHECK:   ROOT %add.1 = f32[2,3]{1,0} add(%Arg_0.2, %broadcast.1)
// CHECK: }
// CHECK:
// CHECK: %async_call.1 (Arg_0.3: f32[2,3], Arg_1.3: f32[3]) -> f32[2,3]{1,0} {
// CHECK:   %Arg_0.3 = f32[2,3]{1,0} parameter(0)
// CHECK:   %Arg_1.3 = f32[3]{0} parameter(1)
// CHECK:   ROOT %call.1 = f32[2,3]{1,0} call(%Arg_0.3, %Arg_1.3), to_apply=%async_computation.1
// CHECK: }
// CHECK:
// CHECK: %twice.1 (Arg_0.4: f32[2,3]) -> f32[2,3]{1,0} {
// CHECK:   %Arg_0.4 = f32[2,3]{1,0} parameter(0)
// CHECK:   ROOT %add.2 = f32[2,3]{1,0} add(%Arg_0.4, %Arg_0.4)
// CHECK: }
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[2,3], Arg_1.1: f32[3]) -> (f32[2,3]{1,0}, f32[2,3]{1,0}, f32[3,2]{1,0}, f32[3]{0}) {
// CHECK:   %Arg_0.1 = f32[2,3]{1,0} parameter(0)
// CHECK:   %Arg_1.1 = f32[3]{0} parameter(1)
// CHECK:   %async-start.1 = ((f32[2,3]{1,0}, f32[3]{0}), f32[2,3]{1,0}) async-start(%Arg_0.1, %Arg_1.1), calls=%async_call.1
// CHECK:   %call.2 = f32[2,3]{1,0} call(%Arg_0.1), to_apply=%twice.1
// CHECK:   %async-done.1 = f32[2,3]{1,0} async-done(%async-start.1)
// CHECK:   %transpose.1 = f32[3,2]{1,0} transpose(%Arg_0.1), dimensions={1,0}
// CHECK:   %constant.1 = f32[] constant(1)
// CHECK:   %broadcast.2 = f32[2]{0} broadcast(%constant.1), dimensions={}
// CHECK:   %dot.1 = f32[3]{0} dot(%Arg_0.1, %broadcast.2), lhs_contracting_dims={0}, rhs_contracting_dims={0}
// CHECK:   ROOT %tuple.1 = (f32[2,3]{1,0}, f32[2,3]{1,0}, f32[3,2]{1,0}, f32[3]{0}) tuple(%async-done.1, %call.2, %transpose.1, %dot.1)
// CHECK: }
