// RUN: hlosim check -q %s
// EXIT: 2
func.func private @f(%x: tensor<4xf32>) {
  return
}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// ERR: call_of_nothing_returned.mlir:7:10: error: func.call: @f returns 0 values, expected 2
// ERR:     %0:2 = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// ERR:            ^
