// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: broadcast_out_of_range.mlir:4:8: error: stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 2, but the result has 2
// ERR:     %0 = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<8xf32>) -> tensor<4x8xf32>
// ERR:          ^
