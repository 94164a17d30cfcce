// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  return %0 : tensor<4xf32>
// ERR: unfinished_function.mlir:6:1: error: expects an operation or '}', but sees the end of the text
// ERR:   
// ERR:   ^
