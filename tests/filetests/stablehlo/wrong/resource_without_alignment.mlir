// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xi8>
  return %x : tensor<4x8xf32>
}
{-# dialect_resources: { builtin: { w: "0x0102" } } #-}
// ERR: resource_without_alignment.mlir:4:27: error: resource w has no alignment in its bytes
// ERR:     %0 = stablehlo.constant dense_resource<w> : tensor<2xi8>
// ERR:                             ^
