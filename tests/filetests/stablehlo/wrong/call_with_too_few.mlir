// RUN: hlosim check -q %s
// EXIT: 2
func.func private @two(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @two(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ERR: call_with_too_few.mlir:7:8: error: @two takes 2 arguments, 1 given
// ERR:     %0 = func.call @two(%x) : (tensor<f32>) -> tensor<f32>
// ERR:          ^
