// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: call_of_itself.mlir:4:8: error: @main calls itself: recursion is not supported
// ERR:     %0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
// ERR:          ^
