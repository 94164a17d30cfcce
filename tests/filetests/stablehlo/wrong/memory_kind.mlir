// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32> {mhlo.memory_kind = "disk"}) {
  return
}
// ERR: memory_kind.mlir:3:1: error: mhlo.memory_kind "disk" is none of device, pinned_host, unpinned_host
// ERR:   func.func @main(%x: tensor<4x8xf32> {mhlo.memory_kind = "disk"}) {
// ERR:   ^
