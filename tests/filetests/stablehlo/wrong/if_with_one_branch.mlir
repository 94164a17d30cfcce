// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4x8xf32>
  }) : (tensor<i1>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: if_with_one_branch.mlir:5:8: error: stablehlo.if: has 1 branches, expected 2
// ERR:     %0 = "stablehlo.if"(%p) ({
// ERR:          ^
