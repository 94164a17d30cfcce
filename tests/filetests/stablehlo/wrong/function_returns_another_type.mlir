// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  return %x : tensor<4xf32>
}
// ERR: function_returns_another_type.mlir:4:3: error: @main returns f32[4] as value 0, but its type has f32[5]
// ERR:     return %x : tensor<4xf32>
// ERR:     ^
