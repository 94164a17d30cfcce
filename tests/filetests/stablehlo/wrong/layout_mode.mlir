// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32> {mhlo.layout_mode = "{0}"}) {
  return
}
// ERR: layout_mode.mlir:3:1: error: mhlo.layout_mode "{0}" is not a layout of f32[4,8]
// ERR:   func.func @main(%x: tensor<4x8xf32> {mhlo.layout_mode = "{0}"}) {
// ERR:   ^
