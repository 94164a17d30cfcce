// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<*xf32>) {
  return
}
// ERR: unranked.mlir:3:1: error: argument 0: tensor<*xf32> has no rank: unranked tensors are not supported
// ERR:   func.func @main(%x: tensor<*xf32>) {
// ERR:   ^
