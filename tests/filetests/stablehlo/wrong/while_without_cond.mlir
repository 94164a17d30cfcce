// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.while(%a = %x) : tensor<4x8xf32> do {
    stablehlo.return %a : tensor<4x8xf32>
  }
  return %x : tensor<4x8xf32>
}
// ERR: while_without_cond.mlir:4:51: error: expects 'cond' and the condition, but sees 'do'
// ERR:     %0 = stablehlo.while(%a = %x) : tensor<4x8xf32> do {
// ERR:                                                     ^
