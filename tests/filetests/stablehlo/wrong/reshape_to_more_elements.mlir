// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.reshape %v : (tensor<8xf32>) -> tensor<9xf32>
  return %x : tensor<4x8xf32>
}
// ERR: reshape_to_more_elements.mlir:4:8: error: reshape C1: 8 elements in f32[8] become 9 in f32[9], expected the same number
// ERR:     %0 = stablehlo.reshape %v : (tensor<8xf32>) -> tensor<9xf32>
// ERR:          ^
