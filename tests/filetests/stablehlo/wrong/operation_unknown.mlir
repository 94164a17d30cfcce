// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.addd"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: operation_unknown.mlir:4:8: error: 'stablehlo.addd' is not an operation of the dialect stablehlo that is known here
// ERR:     %0 = "stablehlo.addd"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:          ^
