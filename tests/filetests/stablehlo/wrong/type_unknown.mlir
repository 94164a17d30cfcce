// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf33>) {
  return
}
// ERR: type_unknown.mlir:3:32: error: expects a type, but sees 'f33'
// ERR:   func.func @main(%x: tensor<4x8xf33>) {
// ERR:                                  ^
