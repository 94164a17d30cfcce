// RUN: hlosim check -q %s
// EXIT: 2
module attributes {mhlo.frontend_attributes = {"(" = "c"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
// ERR: frontend_key_of_the_module.mlir:3:1: error: mhlo.frontend_attributes: expects the key of a frontend attribute, but sees '('
// ERR:   module attributes {mhlo.frontend_attributes = {"(" = "c"}} {
// ERR:   ^
