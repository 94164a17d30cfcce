// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %t = stablehlo.slice %v [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %s = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %x : tensor<4x8xf32>
}
// ERR: region_takes_an_array_from_outside.mlir:5:8: error: stablehlo.reduce: its region uses %v from outside, f32[8]; expected its arguments, constants and scalars
// ERR:     %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
// ERR:          ^
