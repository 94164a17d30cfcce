// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.iota"() : () -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: iota_dimension_missing.mlir:4:8: error: stablehlo.iota: needs the attribute "iota_dimension"
// ERR:     %0 = "stablehlo.iota"() : () -> tensor<4x8xf32>
// ERR:          ^
