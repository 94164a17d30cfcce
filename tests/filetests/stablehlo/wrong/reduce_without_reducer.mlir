// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: reduce_without_reducer.mlir:6:3: error: expects 'reducer' and its arguments, but sees 'return'
// ERR:     return %x : tensor<4x8xf32>
// ERR:     ^
