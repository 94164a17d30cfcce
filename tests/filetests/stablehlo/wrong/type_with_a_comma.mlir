// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4,8xf32>) {
  return
}
// ERR: type_with_a_comma.mlir:3:29: error: expects 'x' behind a dimension, but sees ','
// ERR:   func.func @main(%x: tensor<4,8xf32>) {
// ERR:                               ^
