// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64, iota_dimension = 1 : i64}> : () -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: attribute_twice.mlir:4:28: error: 'iota_dimension' is given twice
// ERR:     %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64, iota_dimension = 1 : i64}> : () -> tensor<4x8xf32>
// ERR:                              ^
