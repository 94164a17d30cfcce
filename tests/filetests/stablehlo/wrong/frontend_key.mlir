// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x {mhlo.frontend_attributes = {"a b" = "c"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: frontend_key.mlir:4:8: error: abs: frontend_attributes: expects the key of a frontend attribute, but sees 'b'
// ERR:     %0 = stablehlo.abs %x {mhlo.frontend_attributes = {"a b" = "c"}} : tensor<4xf32>
// ERR:          ^
