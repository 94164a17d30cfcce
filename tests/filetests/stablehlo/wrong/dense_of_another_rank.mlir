// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<[[1, 2]]> : tensor<2xi32>
  return %x : tensor<4x8xf32>
}
// ERR: dense_of_another_rank.mlir:4:34: error: expects an element of tensor<2xi32>, but sees a list
// ERR:     %0 = stablehlo.constant dense<[[1, 2]]> : tensor<2xi32>
// ERR:                                    ^
