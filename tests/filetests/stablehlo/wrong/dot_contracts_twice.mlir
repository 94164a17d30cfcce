// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [1] x [1], contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4x4xf32>
  return %x : tensor<4x8xf32>
}
// ERR: dot_contracts_twice.mlir:4:8: error: dot C3: dimension 1 of lhs f32[4,8] is named twice, expected one role a dimension
// ERR:     %0 = stablehlo.dot_general %x, %x, batching_dims = [1] x [1], contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4x4xf32>
// ERR:          ^
