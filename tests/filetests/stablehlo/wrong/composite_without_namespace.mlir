// RUN: hlosim check -q %s
// EXIT: 2
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "f" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: composite_without_namespace.mlir:7:8: error: stablehlo.composite: the name "f" is none of an operation in a namespace, as in my.operation
// ERR:     %0 = stablehlo.composite "f" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
// ERR:          ^
