// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
// ERR: second_piece.mlir:10:10: error: %y isn't defined
// ERR:     return %y : tensor<4xf32>
// ERR:            ^
