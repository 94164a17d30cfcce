// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<8xindex>) {
  return
}
// ERR: index_elements.mlir:3:1: error: argument 0: tensor<8xindex> has no HLO type for its elements
// ERR:   func.func @main(%x: tensor<8xindex>) {
// ERR:   ^
