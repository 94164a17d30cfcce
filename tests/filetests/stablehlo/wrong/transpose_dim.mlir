// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %x, dim = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %x : tensor<4x8xf32>
}
// ERR: transpose_dim.mlir:4:32: error: expects 'dims =', but sees 'dim'
// ERR:     %0 = stablehlo.transpose %x, dim = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// ERR:                                  ^
