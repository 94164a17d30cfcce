// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// ERR: mesh_unknown.mlir:3:1: error: there is no mesh @mesh
// ERR:   func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
// ERR:   ^
