// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=}"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// ERR: sharding_text.mlir:3:1: error: "{devices=}" is not a sharding, expected HLO's text or its protocol buffer
// ERR:   func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=}"}) -> tensor<8xf32> {
// ERR:   ^
