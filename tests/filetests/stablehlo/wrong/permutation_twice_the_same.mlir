// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: permutation_twice_the_same.mlir:4:8: error: transpose C2: dimensions holds 1 more than once, expected each dimension at most once
// ERR:     %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<8x8xf32>
// ERR:          ^
