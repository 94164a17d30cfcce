// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0:2 = "stablehlo.optimization_barrier"(%x, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %1 = stablehlo.abs %0 : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: pack_without_number.mlir:5:22: error: %0 has 2 results: name one, as in %0#0
// ERR:     %1 = stablehlo.abs %0 : tensor<4x8xf32>
// ERR:                        ^
