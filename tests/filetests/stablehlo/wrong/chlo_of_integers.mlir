// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = chlo.lgamma %x : tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// ERR: chlo_of_integers.mlir:4:8: error: chlo.lgamma: operand 0 is tensor<4xi32>, expected a tensor of floats or complex numbers
// ERR:     %0 = chlo.lgamma %x : tensor<4xi32> -> tensor<4xi32>
// ERR:          ^
