// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %x {mhlo.sharding = #s} : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: attribute_alias_unknown.mlir:4:42: error: #s isn't defined
// ERR:     %0 = stablehlo.abs %x {mhlo.sharding = #s} : tensor<4x8xf32>
// ERR:                                            ^
