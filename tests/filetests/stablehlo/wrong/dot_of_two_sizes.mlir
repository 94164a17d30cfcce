// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: dot_of_two_sizes.mlir:4:8: error: dot C5: contracting sizes differ: dimension 1 of f32[4,8] is 8, dimension 0 of f32[4,8] is 4
// ERR:     %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:          ^
