// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: add_of_two_sizes.mlir:4:8: error: stablehlo.add: C1: types tensor<4xf32> and tensor<5xf32> differ, expected the same
// ERR:     %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
// ERR:          ^
