// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4x8xf32>
  }, {
    stablehlo.return %v : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: branches_of_two_types.mlir:5:8: error: stablehlo.if: C3: branch 1 returns tensor<8xf32> as value 0, expected tensor<4x8xf32>
// ERR:     %0 = "stablehlo.if"(%p) ({
// ERR:          ^
