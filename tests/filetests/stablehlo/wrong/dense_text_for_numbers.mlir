// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<"one"> : tensor<f32>
  return %x : tensor<4x8xf32>
}
// ERR: dense_text_for_numbers.mlir:4:33: error: expects hexadecimal digits behind 0x
// ERR:     %0 = stablehlo.constant dense<"one"> : tensor<f32>
// ERR:                                   ^
