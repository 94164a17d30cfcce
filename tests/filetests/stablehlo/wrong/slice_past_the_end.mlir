// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.slice %v [2:9] : (tensor<8xf32>) -> tensor<7xf32>
  return %x : tensor<4x8xf32>
}
// ERR: slice_past_the_end.mlir:4:8: error: slice C3: [2:9] of dimension 0 of f32[8], expected 0 <= start <= limit <= 8
// ERR:     %0 = stablehlo.slice %v [2:9] : (tensor<8xf32>) -> tensor<7xf32>
// ERR:          ^
