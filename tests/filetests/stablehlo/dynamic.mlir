// RUN: hlosim print --dim batch=8 %s
// RUN: hlosim print --dim arg0.0=5 %s
// RUN: hlosim print --dim 3,4 %s
// RUN: hlosim print --dim x %s
// RUN: hlosim check %s
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %5 = stablehlo.dynamic_broadcast_in_dim %0, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %6 = stablehlo.add %x, %5 : tensor<?x4xf32>
  return %6 : tensor<?x4xf32>
}
// ==== 1
// CHECK: HloModule main
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[8,4]) -> f32[8,4]{1,0} {
// CHECK:   %Arg_0.1 = f32[8,4]{1,0} parameter(0)
// CHECK:   %constant.1 = f32[] constant(1)
// CHECK:   %constant.2 = s32[] constant(8)
// CHECK:   %reshape.1 = s32[1]{0} reshape(%constant.2)
// CHECK:   %constant.3 = s32[1]{0} constant({4})
// CHECK:   %concatenate.1 = s32[2]{0} concatenate(%reshape.1, %constant.3), dimensions={0}
// CHECK:   %broadcast.1 = f32[8,4]{1,0} broadcast(%constant.1), dimensions={}
// CHECK:   ROOT %add.1 = f32[8,4]{1,0} add(%Arg_0.1, %broadcast.1)
// CHECK: }
// ==== 2
// CHECK: HloModule main
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[5,4]) -> f32[5,4]{1,0} {
// CHECK:   %Arg_0.1 = f32[5,4]{1,0} parameter(0)
// CHECK:   %constant.1 = f32[] constant(1)
// CHECK:   %constant.2 = s32[] constant(5)
// CHECK:   %reshape.1 = s32[1]{0} reshape(%constant.2)
// CHECK:   %constant.3 = s32[1]{0} constant({4})
// CHECK:   %concatenate.1 = s32[2]{0} concatenate(%reshape.1, %constant.3), dimensions={0}
// CHECK:   %broadcast.1 = f32[5,4]{1,0} broadcast(%constant.1), dimensions={}
// CHECK:   ROOT %add.1 = f32[5,4]{1,0} add(%Arg_0.1, %broadcast.1)
// CHECK: }
// ==== 3
// EXIT: 2
// ERR: dynamic.mlir:6:1: error: 2 sizes are given, but the arguments have 1 dynamic dimensions
// ERR:   func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
// ERR:   ^
// ==== 4
// EXIT: 2
// ERR: hlosim: error: --dim: 'x' is not a size
// ERR:   hint: 8, batch=8 or arg0.1=8
// ==== 5
// EXIT: 2
// CHECK: 0 of 1 files are right: 0 modules, 0 instructions
// ERR: dynamic.mlir:6:1: error: argument 0: dimension 0 of tensor<?x4xf32> is dynamic, expected a static size
// ERR:   func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
// ERR:   ^
// ERR:   hint: --dim=arg0.0=SIZE
