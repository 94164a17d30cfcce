// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
// ERR: dynamic_argument.mlir:3:1: error: argument 0: dimension 0 of tensor<?x8xf32> is dynamic, expected a static size
// ERR:   func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
// ERR:   ^
// ERR:   hint: --dim=arg0.0=SIZE
