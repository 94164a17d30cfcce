// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.concatenate %v, %v, dim = 1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %x : tensor<4x8xf32>
}
// ERR: concatenate_along_no_dimension.mlir:4:8: error: concatenate C2: dimension to concatenate along is 1, expected one of 1 dimensions, counted from 0
// ERR:     %0 = stablehlo.concatenate %v, %v, dim = 1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
// ERR:          ^
