// RUN: hlosim check -q %s
// EXIT: 2
sdy.mesh @mesh = <["a"=0]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// ERR: axis_of_size_0.mlir:3:1: error: sdy.mesh: an axis of a mesh has a size below 1
// ERR:   sdy.mesh @mesh = <["a"=0]>
// ERR:   ^
