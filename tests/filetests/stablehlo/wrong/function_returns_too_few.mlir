// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x : tensor<4xf32>
}
// ERR: function_returns_too_few.mlir:4:3: error: @main returns 1 values, its type has 2
// ERR:     return %x : tensor<4xf32>
// ERR:     ^
