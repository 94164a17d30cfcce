// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<(1.0)> : tensor<complex<f32>>
  return %x : tensor<4x8xf32>
}
// ERR: dense_complex_part_missing.mlir:4:37: error: expects ',' between the parts of a complex number, but sees ')'
// ERR:     %0 = stablehlo.constant dense<(1.0)> : tensor<complex<f32>>
// ERR:                                       ^
