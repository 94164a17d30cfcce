// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<-129> : tensor<i8>
  return %x : tensor<4x8xf32>
}
// ERR: dense_does_not_fit.mlir:4:33: error: -129 doesn't fit into i8
// ERR:     %0 = stablehlo.constant dense<-129> : tensor<i8>
// ERR:                                   ^
