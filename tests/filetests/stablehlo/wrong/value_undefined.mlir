// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: value_undefined.mlir:4:26: error: %y isn't defined
// ERR:     %0 = stablehlo.add %x, %y : tensor<4x8xf32>
// ERR:                            ^
