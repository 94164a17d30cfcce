// RUN: hlosim check -q %s
// EXIT: 2
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// ERR: axis_unknown.mlir:4:1: error: the mesh has no axis "b"
// ERR:   func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<8xf32> {
// ERR:   ^
