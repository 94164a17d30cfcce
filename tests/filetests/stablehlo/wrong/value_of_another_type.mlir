// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %v : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: value_of_another_type.mlir:4:22: error: %v is defined as tensor<8xf32>, but used as tensor<4x8xf32>
// ERR:     %0 = stablehlo.abs %v : tensor<4x8xf32>
// ERR:                        ^
