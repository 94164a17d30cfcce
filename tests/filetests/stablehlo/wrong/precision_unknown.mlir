// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x, precision = [BEST, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// ERR: precision_unknown.mlir:4:8: error: dot: operand_precision can't be best
// ERR:     %0 = stablehlo.dot %x, %x, precision = [BEST, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// ERR:          ^
// ERR:   hint: one of default, high, highest, packed_nibble
