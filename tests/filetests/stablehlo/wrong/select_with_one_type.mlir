// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.select %x, %x, %x : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: select_with_one_type.mlir:4:8: error: expects 2 types of operands and results, but sees 1
// ERR:     %0 = stablehlo.select %x, %x, %x : tensor<4x8xf32>
// ERR:          ^
