// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.while(%a = %x) : tensor<4x8xf32>
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return
  }
  return %x : tensor<4x8xf32>
}
// ERR: while_body_returns_too_few.mlir:4:8: error: stablehlo.while: C2: the body returns 0 values, expected 1
// ERR:     %0 = stablehlo.while(%a = %x) : tensor<4x8xf32>
// ERR:          ^
