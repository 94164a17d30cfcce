// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>
  return %x : tensor<4x8xf32>
}
// ERR: dense_ragged.mlir:4:44: error: expects 2 elements in dimension 1 of tensor<2x2xi32>, but sees 1
// ERR:     %0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>
// ERR:                                              ^
