// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: !mat) {
  return
}
// ERR: type_alias_unknown.mlir:3:21: error: !mat isn't defined
// ERR:   func.func @main(%x: !mat) {
// ERR:                       ^
