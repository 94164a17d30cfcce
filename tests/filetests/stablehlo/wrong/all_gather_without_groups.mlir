// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: all_gather_without_groups.mlir:4:8: error: stablehlo.all_gather: needs the attribute "replica_groups"
// ERR:     %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
// ERR:          ^
