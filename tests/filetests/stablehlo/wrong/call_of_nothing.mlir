// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = func.call @none(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: call_of_nothing.mlir:4:8: error: func.call: there is no function @none
// ERR:     %0 = func.call @none(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:          ^
