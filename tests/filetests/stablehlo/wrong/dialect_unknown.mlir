// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "tosa.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: dialect_unknown.mlir:4:8: error: 'tosa.abs' is of the dialect tosa, expected stablehlo, mhlo, chlo, check, sdy or func
// ERR:     %0 = "tosa.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:          ^
