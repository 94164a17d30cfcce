// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.slice %v [0..4] : (tensor<8xf32>) -> tensor<4xf32>
  return %x : tensor<4x8xf32>
}
// ERR: slice_with_a_dot.mlir:4:29: error: expects ':' behind the start of a slice, but sees '..4'
// ERR:     %0 = stablehlo.slice %v [0..4] : (tensor<8xf32>) -> tensor<4xf32>
// ERR:                               ^
