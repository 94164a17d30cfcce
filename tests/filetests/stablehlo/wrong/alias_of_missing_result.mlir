// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// ERR: alias_of_missing_result.mlir:3:1: error: tf.aliasing_output of argument 0 names result 3, but @main has 1
// ERR:   func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> tensor<4xf32> {
// ERR:   ^
