// RUN: hlosim check -q %s
// EXIT: 2
func.func private @extern(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @extern(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ERR: call_of_a_declaration.mlir:5:8: error: @extern is declared, but has no body
// ERR:     %0 = func.call @extern(%x) : (tensor<f32>) -> tensor<f32>
// ERR:          ^
