// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: add_of_two_sizes.mlir:4:8: error: add C3: operands have shapes f32[4] and f32[5], expected the same dimensions: nothing is broadcast implicitly
// ERR:     %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
// ERR:          ^
