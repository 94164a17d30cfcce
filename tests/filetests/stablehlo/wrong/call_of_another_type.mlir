// RUN: hlosim check -q %s
// EXIT: 2
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// ERR: call_of_another_type.mlir:7:8: error: func.call: @f returns f32[4] as value 0, expected f32[5]
// ERR:     %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<5xf32>
// ERR:          ^
