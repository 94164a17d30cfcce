// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<"0x0000803F00"> : tensor<2xf32>
  return %x : tensor<4x8xf32>
}
// ERR: dense_hex_too_short.mlir:4:33: error: 5 bytes aren't the 2 elements of tensor<2xf32>
// ERR:     %0 = stablehlo.constant dense<"0x0000803F00"> : tensor<2xf32>
// ERR:                                   ^
