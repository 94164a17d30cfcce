// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: gather_numbers_missing.mlir:4:8: error: stablehlo.gather: needs the attribute "dimension_numbers"
// ERR:     %0 = "stablehlo.gather"(%x, %i) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<8xf32>
// ERR:          ^
