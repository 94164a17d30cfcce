// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.compare %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %x : tensor<4x8xf32>
}
// ERR: compare_without_direction.mlir:4:26: error: expects a word for comparison_direction, but sees '%x'
// ERR:     %0 = stablehlo.compare %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// ERR:                            ^
