// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<8xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// ERR: dynamic_by_an_argument.mlir:4:8: error: stablehlo.dynamic_reshape: operand 1 isn't constant: a program whose shapes are dynamic, and depend on values, is not supported
// ERR:     %0 = stablehlo.dynamic_reshape %x, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>
// ERR:          ^
