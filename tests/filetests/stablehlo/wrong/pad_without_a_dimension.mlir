// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [1], high = [1], interior = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: pad_without_a_dimension.mlir:5:8: error: pad C3: padding has 1 entries, expected 2
// ERR:     %0 = stablehlo.pad %x, %c, low = [1], high = [1], interior = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<6x8xf32>
// ERR:          ^
