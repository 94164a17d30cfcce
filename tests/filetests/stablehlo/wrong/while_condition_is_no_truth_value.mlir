// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.while(%a = %x) : tensor<4x8xf32>
  cond {
    stablehlo.return %a : tensor<4x8xf32>
  } do {
    stablehlo.return %a : tensor<4x8xf32>
  }
  return %x : tensor<4x8xf32>
}
// ERR: while_condition_is_no_truth_value.mlir:4:8: error: stablehlo.while: C1: the condition returns tensor<4x8xf32>, expected tensor<i1>
// ERR:     %0 = stablehlo.while(%a = %x) : tensor<4x8xf32>
// ERR:          ^
